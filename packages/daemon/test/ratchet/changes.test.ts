import type { ChangeView } from '@pawl/protocol/view/change';
import { newId } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import { changeById } from '@pawl/store/changes';
import { appendCheckChunk, insertCheck } from '@pawl/store/checks';
import { updateQueue } from '@pawl/store/queues';
import { git } from '@pawl/testing/sample-repository';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { changeEvents, inStore, makeBranches, ownDirectory, patchChange, startQuietDaemon } from '../support/change.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { fingerprint } from '../support/errand.ts';
import { changeNow } from '../support/ratchet.ts';

let daemon: TestDaemon;
/** Branches that are there from the beginning; each test takes some of them. */
const branches = 40;
let number = 0;
beforeAll(async () => {
  daemon = await startQuietDaemon();
  await makeBranches(
    daemon.repository,
    Array.from({ length: branches }, (_, index) => `topic/${index + 1}`),
  );
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

/** A change of a person, on a branch of its own. */
async function aChange(): Promise<ChangeView> {
  return (await open(nextBranch())).change;
}

function nextBranch(): string {
  number += 1;
  if (number > branches) throw new Error('more branches are needed');
  return `topic/${number}`;
}

/** Another commit on its branch, as it comes from a branch that is not used otherwise. */
async function onMore({ branch }: Pick<ChangeView, 'branch'>): Promise<string> {
  const tip = await git(daemon.repository, ['rev-parse', nextBranch()]);
  await git(daemon.repository, ['update-ref', `refs/heads/${branch}`, tip]);
  return tip;
}

const open = (branch: string, more: object = {}) =>
  daemon.client.openChange({ path: daemon.repository, branch, ...more });

/** Writes facts of a change, as the queue would. */
const patch = (id: string, fields: Parameters<typeof patchChange>[2]) => patchChange(daemon, { id }, fields);
const ejected = (change: ChangeView) =>
  patch(change.id, {
    ejection: { kind: 'red', reason: 'exit code 1', files: [], checkId: null, head: change.head, at: 1 },
    returns: 1,
  });

describe('opening', () => {
  test('proposes the commit that the branch is at, queues it, and touches nothing of the repository', async () => {
    const branch = nextBranch();
    const tip = await git(daemon.repository, ['rev-parse', branch]);
    const before = fingerprint(daemon.repository);
    const { change, created, moved } = await open(branch, { summary: 'why' });
    expect({ created, moved }).toEqual({ created: true, moved: false });
    expect(change).toMatchObject({
      branch,
      head: tip,
      base: await git(daemon.repository, ['rev-parse', 'main']),
      title: `work on ${branch}`,
      summary: 'why',
      author: null,
      queuedAt: change.openedAt,
      project: { name: 'sample' },
      state: 'open',
      detail: 'the queue of this project is switched off',
    });
    expect(fingerprint(daemon.repository)).toEqual(before);
    const events = await changeEvents(daemon.client, change.id);
    expect(events.map(({ type }) => type)).toEqual(['change.opened', 'change.queued']);
    // Its commits are the queue's own from now on.
    expect(await git(await ownDirectory(daemon), ['cat-file', '-t', tip])).toBe('commit');
  });

  test('the same again does nothing; a later commit moves it on, and what was said of the old one lapses', async () => {
    const change = await aChange();
    expect(await open(change.branch)).toMatchObject({ created: false, moved: false, change: { id: change.id } });
    await patch(change.id, { findings: [{ kind: 'skip-added', detail: 'a test' }], reviews: 2, retriedAt: 7 });
    const tip = await onMore(change);
    const again = await open(change.branch, { title: 'Better' });
    expect(again).toMatchObject({ created: false, moved: true, change: { id: change.id, head: tip, title: 'Better' } });
    expect(again.change).toMatchObject({ findings: [], reviews: 0, retriedAt: null });
    expect(again.change.queuedAt).toBeGreaterThan(change.queuedAt ?? 0);
    const moved = await changeEvents(daemon.client, change.id, 'change.moved');
    expect(moved.map(({ data }) => data)).toEqual([{ changeId: change.id, from: change.head, head: tip }]);
  });

  test('one that was put out goes to the end of the queue when it moves on', async () => {
    const change = await aChange();
    await ejected(change);
    expect(await changeNow(daemon.client, change.id)).toMatchObject({ state: 'ejected', detail: 'exit code 1' });
    await onMore(change);
    const { change: moved } = await open(change.branch);
    expect(moved.queuedAt).toBeGreaterThan(change.queuedAt ?? 0);
    expect(moved.state).toBe('open');
    expect(await changeEvents(daemon.client, change.id, 'change.queued')).toHaveLength(2);
  });

  test('many at once make one change', async () => {
    const branch = nextBranch();
    const all = await Promise.all(Array.from({ length: 4 }, () => open(branch)));
    expect(all.filter(({ created }) => created)).toHaveLength(1);
    expect(new Set(all.map(({ change }) => change.id)).size).toBe(1);
  });

  test('refuses the target branch, what is not there, and what brings nothing', async () => {
    await git(daemon.repository, ['branch', 'topic/empty', 'main']);
    await expect(open('main')).rejects.toMatchObject({ code: 'conflict' });
    await expect(open('topic/missing')).rejects.toMatchObject({ code: 'not_found' });
    await expect(open('topic/empty')).rejects.toMatchObject({ code: 'conflict', message: /no commits/ });
    await expect(daemon.client.openChange({ path: daemon.repository })).rejects.toMatchObject({
      code: 'invalid_input',
    });
    await expect(daemon.client.openChange({ branch: 'topic/empty' })).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(daemon.client.openChange({ project: 'nobody', branch: 'x' })).rejects.toMatchObject({
      code: 'project_not_found',
    });
  });

  test.each([
    '-x',
    '--upload-pack=x',
    '../x',
    'a..b',
    'a b',
    'a\nb',
    'a\0b',
    '@{-1}',
    'x.lock',
    'HEAD',
    'x'.repeat(5_000),
  ])('a branch called %j is no branch', async (branch) => {
    await expect(open(branch)).rejects.toMatchObject({ code: 'invalid_input' });
  });

  test('hostile titles and summaries are text, or are refused', async () => {
    const change = await aChange();
    await onMore(change);
    await expect(open(change.branch, { title: 'a\nb' })).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(open(change.branch, { title: 'x'.repeat(201) })).rejects.toMatchObject({ code: 'too_large' });
    await expect(open(change.branch, { summary: 'a\0b' })).rejects.toMatchObject({ code: 'invalid_input' });
    const text = '<img onerror=x> \u001b]52;c;x\u0007 $(id) `id` \u202e';
    const { change: moved } = await open(change.branch, { title: '--exec=\u001b[2J', summary: text });
    expect(moved).toMatchObject({ title: '--exec= [2J', summary: text });
  });

  test('a draft is queued by merge, once', async () => {
    const branch = nextBranch();
    const { change } = await open(branch, { draft: true });
    expect(change.queuedAt).toBeNull();
    const merged = (await daemon.client.mergeChange(branch)).change;
    expect(merged.queuedAt).not.toBeNull();
    expect((await daemon.client.mergeChange(branch)).change.queuedAt).toBe(merged.queuedAt);
    expect(await changeEvents(daemon.client, change.id, 'change.queued')).toHaveLength(1);
    // Proposed as a draft again it is taken out of the queue, and without that word put back.
    expect((await open(branch, { draft: true })).change).toMatchObject({ id: change.id, queuedAt: null });
    expect(await changeEvents(daemon.client, change.id, 'change.drafted')).toHaveLength(1);
    expect((await open(branch)).change.queuedAt).toBeGreaterThan(merged.queuedAt ?? 0);
    await onMore({ branch });
    expect(await open(branch, { draft: true })).toMatchObject({ moved: true, change: { queuedAt: null } });
  });
});

describe('finding', () => {
  test('by id, the start of it, its branch, and only where that is one', async () => {
    const change = await aChange();
    for (const word of [change.id, change.id.slice(0, 6), change.branch])
      expect((await daemon.client.showChange(word)).change.id).toBe(change.id);
    for (const word of [change.id.slice(0, 3), 'nothing', '%', '..%2f', 'a'.repeat(200), '\u202e'])
      await expect(daemon.client.showChange(word)).rejects.toMatchObject({ code: 'not_found' });
    await daemon.client.closeChange(change.id, { reason: 'for now' });
    await onMore(change);
    const { change: second } = await open(change.branch);
    // Of one branch, the open one is meant.
    expect((await daemon.client.showChange(change.branch)).change.id).toBe(second.id);
    const { changes } = await daemon.client.listChanges({ path: daemon.repository });
    expect(changes.map(({ id }) => id)).not.toContain(change.id);
    const all = await daemon.client.listChanges({ path: daemon.repository, all: true, limit: 2 });
    expect(all).toMatchObject({ more: true, changes: [{ id: second.id }, { id: change.id, state: 'closed' }] });
  });

  test('diff has what it brings, also after main has moved', async () => {
    const change = await aChange();
    const diff = await daemon.client.diffChange(change.id);
    expect(diff).toMatchObject({ to: change.head, truncated: false, files: [{ added: 1, removed: 0 }] });
    expect(diff.patch).toContain('+x');
  });

  test('log has the end of what a check printed, by step, and says what is missing', async () => {
    const change = await aChange();
    await expect(daemon.client.changeLog(change.id)).rejects.toMatchObject({ code: 'not_found' });
    const steps = ['build', 'test'].map((name) => ({ name, run: name, timeoutMs: 1, junit: [] }));
    const check = {
      id: newId(),
      projectId: change.projectId,
      commit: change.head,
      tree: change.head,
      plan: 'p',
      steps,
      changes: [change.id],
      onto: change.base,
      plannedAt: 1,
      startedAt: 1,
      step: 1,
      stepStartedAt: 1,
      pid: null,
      processStart: null,
      outputOffset: 0,
      outputBytes: 0,
      endedAt: 2,
      outcome: 'failed' as const,
      exitCode: 1,
      detail: 'exit code 1',
      counts: { run: 3, failed: 1, skipped: 0 },
    };
    const long = Buffer.alloc(limits.checkEndBytes, 'b');
    await inStore(daemon.home.root, (store) =>
      store.write(async (tx) => {
        await insertCheck(tx, check);
        await appendCheckChunk(tx, check.id, { step: 0, offset: 0, bytes: long });
        await appendCheckChunk(tx, check.id, {
          step: 1,
          offset: 0,
          bytes: Buffer.from('f\xfc\u00e4', 'utf8').subarray(0, 4),
        });
        await appendCheckChunk(tx, check.id, { step: 1, offset: 4, bytes: Buffer.from([0xa4, 0x21]) });
      }),
    );
    const log = await daemon.client.changeLog(change.id);
    expect(log.check).toMatchObject({ id: check.id, outcome: 'failed', steps: ['build', 'test'], counts: { run: 3 } });
    expect(log.output.map(({ step }) => step)).toEqual(['build', 'test']);
    expect(log.output[1]?.text).toBe('f\u00fc\u00e4!');
    expect(log.leftOutBytes).toBe(6);
    expect((await daemon.client.changeLog(change.id, { check: check.id.slice(0, 6) })).check.id).toBe(check.id);
    await expect(daemon.client.changeLog(change.id, { check: 'nope' })).rejects.toMatchObject({ code: 'not_found' });
    expect((await changeNow(daemon.client, change.id)).checks).toMatchObject([{ id: check.id, detail: 'exit code 1' }]);
  });
});

describe('what a person says', () => {
  test('approve counts for the head that was looked at', async () => {
    const change = await aChange();
    await patch(change.id, { findings: [{ kind: 'fewer-tests', detail: '9 before, 4 now' }] });
    expect(await changeNow(daemon.client, change.id)).toMatchObject({
      state: 'needs-human-input',
      detail: '9 before, 4 now',
      needsPerson: true,
    });
    const other = { head: '0'.repeat(40) };
    await expect(daemon.client.approveChange(change.id, other)).rejects.toMatchObject({ code: 'conflict' });
    for (const head of [change.head, change.head.slice(0, 8)]) await daemon.client.approveChange(change.id, { head });
    expect(await changeNow(daemon.client, change.id)).toMatchObject({ approvedHead: change.head, needsPerson: false });
    expect(await changeEvents(daemon.client, change.id, 'change.approved')).toHaveLength(1);
  });

  test('S4-13: where every review has failed, a person’s approval stands for one', async () => {
    const change = await aChange();
    await patch(change.id, { reviews: limits.reviewAttempts });
    expect((await daemon.client.approveChange(change.id)).change.reviewedHead).toBe(change.head);
  });

  test('block holds it and unblock lets it go, each told once', async () => {
    const change = await aChange();
    await expect(daemon.client.blockChange(change.id, { reason: ' ' })).rejects.toMatchObject({
      code: 'invalid_input',
    });
    for (let times = 0; times < 2; times++) {
      expect((await daemon.client.blockChange(change.id, { reason: 'not before noon' })).change).toMatchObject({
        state: 'blocked',
        detail: 'a person: not before noon',
      });
    }
    for (let times = 0; times < 2; times++)
      expect((await daemon.client.unblockChange(change.id)).change).toMatchObject({ hold: null, state: 'open' });
    expect(await changeEvents(daemon.client, change.id, 'change.blocked')).toHaveLength(1);
    expect(await changeEvents(daemon.client, change.id, 'change.unblocked')).toHaveLength(1);
  });

  test('S4-07, S4-14: a blocking comment holds it until it is addressed', async () => {
    const change = await aChange();
    const { comment } = await daemon.client.commentChange(change.id, { body: ' [blocking] it leaks' });
    await daemon.client.commentChange(change.id, { body: 'nice otherwise' });
    expect(comment).toMatchObject({ kind: 'blocking', author: null, head: change.head });
    expect(await changeNow(daemon.client, change.id)).toMatchObject({ state: 'blocked', blocking: 1, comments: 2 });
    const unknown = { body: 'done', addresses: 'nothing' };
    await expect(daemon.client.commentChange(change.id, unknown)).rejects.toMatchObject({ code: 'not_found' });
    const answer = { body: '[BLOCKING] is too strong', addresses: comment.id.slice(0, 8) };
    expect((await daemon.client.commentChange(change.id, answer)).comment.kind).toBe('note');
    const { comments, change: after } = await daemon.client.showChange(change.id);
    expect(comments[0]).toMatchObject({ addressed: 'a person: [BLOCKING] is too strong' });
    expect(after).toMatchObject({ blocking: 0, state: 'open' });
    expect(await changeEvents(daemon.client, change.id, 'change.addressed')).toHaveLength(1);
  });

  test('retry takes an ejection back and nothing else', async () => {
    const change = await aChange();
    await ejected(change);
    await expect(daemon.client.mergeChange(change.id)).rejects.toMatchObject({ code: 'conflict' });
    const { change: again } = await daemon.client.retryChange(change.id);
    expect(again).toMatchObject({ ejection: null, returns: 1, state: 'open' });
    expect(again.queuedAt).toBeGreaterThan(change.queuedAt ?? 0);
    expect((await daemon.client.retryChange(change.id)).change.queuedAt).toBe(again.queuedAt);
    const branch = nextBranch();
    await open(branch, { draft: true });
    await expect(daemon.client.retryChange(branch)).rejects.toMatchObject({ code: 'conflict' });
  });

  test('merge --fix makes it the one that repairs main, and only while main is red', async () => {
    const change = await aChange();
    await expect(daemon.client.mergeChange(change.id, { fix: true })).rejects.toMatchObject({ code: 'conflict' });
    const emergency = { commit: change.base, checkId: newId(), since: 1, fixerId: null, trouble: null };
    const setEmergency = (fact: typeof emergency | null) =>
      inStore(daemon.home.root, (store) => store.write((tx) => updateQueue(tx, change.projectId, { emergency: fact })));
    await setEmergency(emergency);
    const { emergencies } = await daemon.client.inbox();
    expect(emergencies).toMatchObject([
      { project: { alias: 'sample' }, branch: 'main', commit: change.base, fixer: null },
    ]);
    await daemon.client.mergeChange(change.id, { fix: true });
    const root = (await daemon.client.inspectAgent('root', { worktree: false })).agent;
    expect((await daemon.client.inbox()).emergencies).toMatchObject([{ fixer: { id: root.id } }]);
    expect((await changeNow(daemon.client, change.id)).standInId).toBe(root.id);
    await setEmergency(null);
  });

  test('what is merged or closed stays so', async () => {
    const merged = await aChange();
    await patch(merged.id, { mergedAt: 5, mergedCommit: merged.base });
    expect((await daemon.client.mergeChange(merged.id)).change.state).toBe('merged');
    await expect(open(merged.branch)).rejects.toMatchObject({ code: 'conflict', message: /merged already/ });
    // What was taken off the target branch since may be proposed again.
    const undone = await aChange();
    await patch(undone.id, { mergedAt: 5, mergedCommit: undone.head });
    expect((await open(undone.branch)).created).toBe(true);
    const closed = await aChange();
    await daemon.client.closeChange(closed.id, { reason: 'no' });
    for (const { id } of [merged, closed]) {
      for (const verb of [
        () => daemon.client.retryChange(id),
        () => daemon.client.approveChange(id),
        () => daemon.client.blockChange(id, { reason: 'x' }),
        () => daemon.client.unblockChange(id),
      ])
        await expect(verb()).rejects.toMatchObject({ code: 'conflict' });
    }
    await expect(daemon.client.closeChange(merged.id, { reason: 'x' })).rejects.toMatchObject({ code: 'conflict' });
    await expect(daemon.client.mergeChange(closed.id)).rejects.toMatchObject({ code: 'conflict' });
    // To speak of it is still allowed, but nothing can be held up any more.
    expect((await daemon.client.commentChange(closed.id, { body: '[BLOCKING] x' })).comment.kind).toBe('note');
  });
});

describe('S4-07: closing', () => {
  test('keeps what was learned in a file for its owner alone, once', async () => {
    const change = await aChange();
    await daemon.client.commentChange(change.id, { body: 'tried before\n## What was learned' });
    const words = { reason: 'it cannot work', learnings: 'the cache is shared' };
    const { learnings, change: closed } = await daemon.client.closeChange(change.id, words);
    expect(closed).toMatchObject({ state: 'closed', detail: 'it cannot work' });
    const path = learnings ?? '';
    expect(path.startsWith(daemon.home.learnings)).toBe(true);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const text = readFileSync(path, 'utf8');
    for (const part of [change.title, change.branch, change.head, words.reason, words.learnings, '> tried before'])
      expect(text).toContain(part);
    // A comment cannot pass for a part of the file.
    expect(text.match(/^## What was learned$/gm)).toHaveLength(1);
    const again = await daemon.client.closeChange(change.id, { reason: 'another', learnings: 'something else' });
    expect(again).toMatchObject({ learnings: path, change: { detail: 'it cannot work' } });
    expect(readFileSync(path, 'utf8')).toBe(text);
    expect(readdirSync(dirname(path)).filter((name) => name.includes('.tmp'))).toEqual([]);
    expect((await daemon.client.showChange(change.id)).learnings).toBe(path);
    const events = await changeEvents(daemon.client, change.id, 'change.closed');
    expect(events.map(({ data }) => data)).toEqual([{ changeId: change.id, reason: words.reason, learnings: path }]);
  });

  test('a person need not say what was learned, but why', async () => {
    const change = await aChange();
    await expect(daemon.client.closeChange(change.id, { reason: '' })).rejects.toMatchObject({ code: 'invalid_input' });
    expect(await daemon.client.closeChange(change.id, { reason: 'no' })).toMatchObject({ learnings: null });
    expect(await inStore(daemon.home.root, (store) => changeById(store.db, change.id))).toMatchObject({
      closeReason: 'no',
    });
  });
});

describe('the queue', () => {
  test('says what it is asked for, and rests and goes on', async () => {
    const [queue] = (await daemon.client.listQueues({ path: daemon.repository })).queues;
    expect(queue).toMatchObject({
      project: { name: 'sample' },
      branch: 'main',
      emergency: null,
      pausedAt: null,
      trouble: null,
      config: { enabled: false, checks: ['check'], method: 'squash', source: 'commit', forge: 'local', remote: null },
    });
    for (let times = 0; times < 2; times++)
      expect((await daemon.client.pauseQueue({ path: daemon.repository })).queue.pausedAt).not.toBeNull();
    for (let times = 0; times < 2; times++)
      expect((await daemon.client.resumeQueue({ path: daemon.repository })).queue.pausedAt).toBeNull();
    const { events } = await daemon.client.events({ limit: 1000 });
    expect(events.filter(({ type }) => type === 'queue.paused' || type === 'queue.resumed')).toHaveLength(2);
    expect((await daemon.client.checkQueue({ path: daemon.repository })).queue.branch).toBe('main');
  });

  test('what needs a person is in the inbox', async () => {
    const change = await aChange();
    await patch(change.id, { findings: [{ kind: 'check-edited', detail: 'it edits the check' }] });
    const { changes, items } = await daemon.client.inbox();
    expect(items).toEqual([]);
    expect(changes.map(({ id }) => id)).toContain(change.id);
    expect(changes.every(({ needsPerson }) => needsPerson)).toBe(true);
  });
});
