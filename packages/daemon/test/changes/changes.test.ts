import { newId } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import { appendCheckChunk, insertCheck } from '@pawl/store/changes/checks';
import { git } from '@pawl/testing/sample-repository';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Branches } from '../support/branches.ts';
import { startBranches } from '../support/branches.ts';
import { changeEvents, inStore, ownDirectory } from '../support/change.ts';
import { fingerprint } from '../support/errand.ts';
import { changeNow } from '../support/merge-queue.ts';

let daemon: Branches['daemon'];
let aChange: Branches['aChange'];
let nextBranch: Branches['nextBranch'];
let onMore: Branches['onMore'];
let open: Branches['open'];
let patch: Branches['patch'];
let ejected: Branches['ejected'];
beforeAll(async () => {
  ({ daemon, aChange, nextBranch, onMore, open, patch, ejected } = await startBranches(25));
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

describe('opening', () => {
  test('proposes the branch’s current commit, queues it, and touches nothing in the repository', async () => {
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
      detail: 'the queue of this project is disabled',
    });
    expect(fingerprint(daemon.repository)).toEqual(before);
    const events = await changeEvents(daemon.client, change.id);
    expect(events.map(({ type }) => type)).toEqual(['change.opened', 'change.queued']);
    // From now on the queue has its own copy of the commits.
    expect(await git(await ownDirectory(daemon), ['cat-file', '-t', tip])).toBe('commit');
  });

  test('repeating it does nothing; a later commit moves the change, and its reviews lapse', async () => {
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

  test('an ejected change goes to the end of the queue when it moves', async () => {
    const change = await aChange();
    await ejected(change);
    expect(await changeNow(daemon.client, change.id)).toMatchObject({ state: 'ejected', detail: 'exit code 1' });
    await onMore(change);
    const { change: moved } = await open(change.branch);
    expect(moved.queuedAt).toBeGreaterThan(change.queuedAt ?? 0);
    expect(moved.state).toBe('open');
    expect(await changeEvents(daemon.client, change.id, 'change.queued')).toHaveLength(2);
  });

  test('many concurrent requests create one change', async () => {
    const branch = nextBranch();
    const all = await Promise.all(Array.from({ length: 4 }, () => open(branch)));
    expect(all.filter(({ created }) => created)).toHaveLength(1);
    expect(new Set(all.map(({ change }) => change.id)).size).toBe(1);
  });

  test('refuses the target branch, a missing branch, and one without commits', async () => {
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
  ])('refuses a branch named %j', async (branch) => {
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
    // Proposing it as a draft again removes it from the queue, and proposing it normally puts it back.
    expect((await open(branch, { draft: true })).change).toMatchObject({ id: change.id, queuedAt: null });
    expect(await changeEvents(daemon.client, change.id, 'change.drafted')).toHaveLength(1);
    expect((await open(branch)).change.queuedAt).toBeGreaterThan(merged.queuedAt ?? 0);
    await onMore({ branch });
    expect(await open(branch, { draft: true })).toMatchObject({ moved: true, change: { queuedAt: null } });
  });
});

describe('finding', () => {
  test('by id, id prefix or branch, only if unique', async () => {
    const change = await aChange();
    for (const word of [change.id, change.id.slice(0, 6), change.branch])
      expect((await daemon.client.showChange(word)).change.id).toBe(change.id);
    for (const word of [change.id.slice(0, 3), 'nothing', '%', '..%2f', 'a'.repeat(200), '\u202e'])
      await expect(daemon.client.showChange(word)).rejects.toMatchObject({ code: 'not_found' });
    await daemon.client.closeChange(change.id, { reason: 'for now' });
    await onMore(change);
    const { change: second } = await open(change.branch);
    // Of several changes of a branch, the open one is found.
    expect((await daemon.client.showChange(change.branch)).change.id).toBe(second.id);
    const { changes } = await daemon.client.listChanges({ path: daemon.repository });
    expect(changes.map(({ id }) => id)).not.toContain(change.id);
    const all = await daemon.client.listChanges({ path: daemon.repository, all: true, limit: 2 });
    expect(all).toMatchObject({ more: true, changes: [{ id: second.id }, { id: change.id, state: 'closed' }] });
  });

  test('diff shows its changes, also after main has moved', async () => {
    const change = await aChange();
    const diff = await daemon.client.diffChange(change.id);
    expect(diff).toMatchObject({ to: change.head, truncated: false, files: [{ added: 1, removed: 0 }] });
    expect(diff.patch).toContain('+x');
  });

  test('log shows the end of a check’s output, by step, and what is left out', async () => {
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
