import { newId } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import { changeById } from '@pawl/store/changes/changes';
import { updateQueue } from '@pawl/store/changes/queues';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Branches } from '../support/branches.ts';
import { startBranches } from '../support/branches.ts';
import { changeEvents, inStore } from '../support/change.ts';
import { changeNow } from '../support/merge-queue.ts';

let daemon: Branches['daemon'];
let aChange: Branches['aChange'];
let nextBranch: Branches['nextBranch'];
let open: Branches['open'];
let patch: Branches['patch'];
let ejected: Branches['ejected'];
beforeAll(async () => {
  ({ daemon, aChange, nextBranch, open, patch, ejected } = await startBranches(25));
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

describe('a person', () => {
  test('approves a specific head', async () => {
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

  test('approves in place of a review if every reviewer failed [S4-13]', async () => {
    const change = await aChange();
    await patch(change.id, { reviews: limits.reviewAttempts });
    expect((await daemon.client.approveChange(change.id)).change.reviewedHead).toBe(change.head);
  });

  test('blocks and unblocks a change, each recorded once', async () => {
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

  test('blocks a change by a comment until it is addressed [S4-07, S4-14]', async () => {
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

  test('retries, which only reverts an ejection', async () => {
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

  test('marks a change as the repair of main with merge --fix, only while main is red', async () => {
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

  test('cannot reopen a merged or closed change', async () => {
    const merged = await aChange();
    await patch(merged.id, { mergedAt: 5, mergedCommit: merged.base });
    expect((await daemon.client.mergeChange(merged.id)).change.state).toBe('merged');
    await expect(open(merged.branch)).rejects.toMatchObject({ code: 'conflict', message: /already merged/ });
    // A change that was removed from the target branch may be proposed again.
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
    // Comments are still allowed, but cannot hold it any more.
    expect((await daemon.client.commentChange(closed.id, { body: '[BLOCKING] x' })).comment.kind).toBe('note');
  });
});

describe('closing [S4-07]', () => {
  test('stores the learnings in a file for its owner only, once', async () => {
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

  test('by a person needs a reason, but no learnings', async () => {
    const change = await aChange();
    await expect(daemon.client.closeChange(change.id, { reason: '' })).rejects.toMatchObject({ code: 'invalid_input' });
    expect(await daemon.client.closeChange(change.id, { reason: 'no' })).toMatchObject({ learnings: null });
    expect(await inStore(daemon.home.root, (store) => changeById(store.db, change.id))).toMatchObject({
      closeReason: 'no',
    });
  });
});

describe('the queue', () => {
  test('shows its configuration, and can be paused and continued', async () => {
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

  test('puts what needs a person into the inbox', async () => {
    const change = await aChange();
    await patch(change.id, { findings: [{ kind: 'check-edited', detail: 'it edits the check' }] });
    const { changes, items } = await daemon.client.inbox();
    expect(items).toEqual([]);
    expect(changes.map(({ id }) => id)).toContain(change.id);
    expect(changes.every(({ needsPerson }) => needsPerson)).toBe(true);
  });
});
