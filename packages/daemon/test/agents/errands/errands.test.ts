import { sampleOf } from '@pawl/testing/endurance';
import { git } from '@pawl/testing/sample-repository';
import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { agentClient } from '../../support/agent-client.ts';
import type { TestDaemon } from '../../support/daemon.ts';
import { startTestDaemon, viewOf } from '../../support/daemon.ts';
import { committing, doneErrand, fingerprint } from '../../support/errand.ts';
import { outputHas, outputText } from '../../support/output.ts';

let daemon: TestDaemon;
let first: string;
beforeAll(async () => {
  daemon = await startTestDaemon();
  first = await git(daemon.repository, ['rev-parse', 'HEAD']);
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});
/** Each test starts with the repository on main, clean, at its first commit. */
beforeEach(async () => {
  rmSync(join(daemon.repository, '.git', 'MERGE_HEAD'), { force: true });
  await git(daemon.repository, ['checkout', '--quiet', '--force', '-B', 'main', first]);
  await git(daemon.repository, ['clean', '--quiet', '-fdx']);
});

const person = { GIT_AUTHOR_NAME: 'p', GIT_AUTHOR_EMAIL: 'p@x', GIT_COMMITTER_NAME: 'p', GIT_COMMITTER_EMAIL: 'p@x' };
const view = async (id: string) => viewOf(daemon.client, id);
const tipOf = (branch: string) => git(daemon.repository, ['rev-parse', branch]);

async function settled(id: string) {
  return waitUntil(async () => (await view(id)).worktreeEnd, { what: 'the worktree to be settled' });
}

describe('an errand [W3-03]', () => {
  test('is an agent with its own worktree and branch, which stay when it is done [5.2.10]', async () => {
    const errand = await doneErrand(daemon, committing('a.txt', 'a'), 'fix the typo');
    expect(errand).toMatchObject({
      mode: 'errand',
      branch: `work/${errand.alias}`,
      status: 'running',
      activity: 'idle',
    });
    expect(existsSync(errand.worktree ?? '')).toBe(true);
    const { errands } = await daemon.client.listErrands();
    expect(errands.find(({ id }) => id === errand.id)).toMatchObject({ description: 'fix the typo' });
    const worker = await daemon.rested();
    expect((await daemon.client.listErrands({ all: true })).errands.map(({ id }) => id)).not.toContain(worker.id);
    await expect(daemon.client.mergeErrand(worker.id, {})).rejects.toMatchObject({ code: 'conflict' });
    await expect(daemon.client.abandonErrand(worker.id)).rejects.toMatchObject({ code: 'conflict' });
  });

  test('shows its changes, committed or not, also to itself', async () => {
    const errand = await doneErrand(daemon, [
      ...committing('a.txt', 'a\n'),
      { write: { path: 'b.txt', content: 'b\n' } },
    ]);
    const diff = await daemon.client.diffErrand(errand.alias);
    expect(diff.files.map(({ path }) => path)).toEqual(['a.txt', 'b.txt']);
    expect(diff).toMatchObject({ branch: errand.branch, base: first, truncated: false });
    expect(diff.patch).toContain('+b');
    expect(await agentClient(daemon.home, errand.id).diffErrand(errand.id)).toEqual(diff);
  });

  test('continues with a message, in the same conversation, without any other prompt [S3-56, S3-57]', async () => {
    const { id } = await daemon.work([{ say: 'hello' }, 'complete', 'recall', 'complete'], { mode: 'errand' });
    await daemon.ended(id);
    const sent = await daemon.client.sendErrand(id, { message: 'in the docs, too' }, randomUUID());
    expect(sent).toMatchObject({ channel: 'resumed', agent: { id } });
    const ended = await daemon.ended(id);
    expect(ended.run).toMatchObject({ task: 'in the docs, too', status: 'completed' });
    expect((await daemon.client.inspectAgent(id)).sessions.map(({ conversation }) => conversation)).toEqual([
      'new',
      'resume',
    ]);
    expect(await outputText(daemon.client, id)).toContain('in the docs, too');
    const worker = await daemon.rested();
    const refused = daemon.client.sendErrand(worker.id, { message: 'x' }, randomUUID());
    await expect(refused).rejects.toMatchObject({ code: 'conflict' });
  });
});

describe('a merge', () => {
  test('updates a clean checkout of main, ends the errand, and reports the same when repeated', async () => {
    const errand = await doneErrand(daemon, committing('a.txt', 'a'));
    const tip = await tipOf(errand.branch ?? '');
    const merged = await daemon.client.mergeErrand(errand.id, {});
    expect(merged).toMatchObject({ into: 'main', branch: errand.branch, commit: tip, already: false });
    expect(merged.agent).toMatchObject({ status: 'dead', detail: 'merged' });
    expect(await git(daemon.repository, ['status', '--porcelain'])).toBe('');
    expect(readFileSync(join(daemon.repository, 'a.txt'), 'utf8')).toBe('a');
    expect(await settled(errand.id)).toMatchObject({ state: 'trashed' });
    expect(await tipOf(errand.branch ?? '')).toBe(tip);
    expect(await daemon.client.mergeErrand(errand.id, {})).toMatchObject({ commit: tip, already: true });
    const { events } = await daemon.client.events({ agent: errand.id, limit: 1000 });
    expect(events.filter(({ type }) => type === 'errand.merged')).toHaveLength(1);
    await expect(daemon.client.abandonErrand(errand.id)).resolves.toMatchObject({ agent: { detail: 'merged' } });
  });

  test('joins two lines of work, into a branch that is not checked out', async () => {
    const errand = await doneErrand(daemon, committing('a.txt', 'a'));
    await git(daemon.repository, ['branch', '--force', 'release', first]);
    await git(daemon.repository, ['checkout', '--quiet', 'release']);
    await git(daemon.repository, ['commit', '--quiet', '--allow-empty', '-m', 'release goes on'], person);
    await git(daemon.repository, ['checkout', '--quiet', 'main']);
    const before = fingerprint(daemon.repository);
    const onto = await tipOf('release');
    const { commit } = await daemon.client.mergeErrand(errand.alias, { into: 'release' });
    expect(await tipOf('release')).toBe(commit);
    expect(await git(daemon.repository, ['rev-list', '--parents', '-1', commit])).toBe(
      `${commit} ${onto} ${await tipOf(errand.branch ?? '')}`,
    );
    expect(await git(daemon.repository, ['log', '-1', '--format=%B', commit])).toContain('fix the typo');
    const changed = Object.entries(fingerprint(daemon.repository)).filter(([path, hash]) => before[path] !== hash);
    expect(changed.map(([path]) => path).sort()).toEqual(['.git/logs/refs/heads/release', '.git/refs/heads/release']);
  });

  test('two at the same time both succeed, one after the other', async () => {
    const errands = [
      await doneErrand(daemon, committing('a.txt', 'a')),
      await doneErrand(daemon, committing('b.txt', 'b')),
    ];
    const merged = await Promise.all(errands.map(({ id }) => daemon.client.mergeErrand(id, {})));
    expect(merged.map(({ already }) => already)).toEqual([false, false]);
    expect(await git(daemon.repository, ['ls-tree', '--name-only', 'main'])).toBe('README.md\na.txt\nb.txt');
    expect(await git(daemon.repository, ['status', '--porcelain'])).toBe('');
  });

  test('commits uncommitted files on request, and refuses them otherwise', async () => {
    const errand = await doneErrand(daemon, [{ write: { path: 'left.txt', content: 'left' } }]);
    const before = fingerprint(daemon.repository);
    await expect(daemon.client.mergeErrand(errand.id, {})).rejects.toMatchObject({
      code: 'conflict',
      hint: expect.stringContaining('--commit') as string,
    });
    expect(fingerprint(daemon.repository)).toEqual(before);
    await daemon.client.mergeErrand(errand.id, { commit: true });
    expect(readFileSync(join(daemon.repository, 'left.txt'), 'utf8')).toBe('left');
    expect(await settled(errand.id)).toMatchObject({ state: 'trashed' });
  });

  test('of nothing, into itself, into nothing, into an agent’s branch, or of a working errand is refused [W3-11]', async () => {
    const idle = await doneErrand(daemon, []);
    const errand = await doneErrand(daemon, committing('a.txt', 'a'));
    const busy = await daemon.work([{ say: 'standing by' }, 'hang'], { mode: 'errand' });
    await outputHas(daemon.client, busy.id, 'standing by');
    const before = fingerprint(daemon.repository);
    const code = async (reference: string, into?: string) =>
      daemon.client
        .mergeErrand(reference, into === undefined ? {} : { into })
        .catch((error: { code: string }) => error.code);
    expect(await code(idle.id)).toBe('conflict');
    expect(await code(errand.id, errand.branch ?? '')).toBe('invalid_input');
    expect(await code(errand.id, 'no-such-branch')).toBe('not_found');
    expect(await code(errand.id, '--force')).toBe('invalid_input');
    expect(await code(errand.id, idle.branch ?? '')).toBe('conflict');
    expect(await code(busy.id)).toBe('busy');
    expect(fingerprint(daemon.repository)).toEqual(before);
    expect((await view(errand.id)).status).toBe('running');
    await daemon.client.stopAgent(busy.id);
  });

  test('with conflicts names the files and changes nothing', async () => {
    const errand = await doneErrand(daemon, committing('README.md', 'errand\n'));
    writeFileSync(join(daemon.repository, 'README.md'), 'main\n');
    await git(daemon.repository, ['commit', '--quiet', '--all', '-m', 'main goes on'], person);
    const before = fingerprint(daemon.repository);
    await expect(daemon.client.mergeErrand(errand.id, {})).rejects.toMatchObject({
      code: 'conflict',
      details: { files: ['README.md'] },
    });
    expect(fingerprint(daemon.repository)).toEqual(before);
    expect((await view(errand.id)).activity).toBe('idle');
  });

  const states: [string, () => Promise<void>][] = [
    ['dirty', async () => writeFileSync(join(daemon.repository, 'README.md'), 'mine\n')],
    ['with a file in the way', async () => writeFileSync(join(daemon.repository, 'a.txt'), 'mine\n')],
    ['detached', async () => void (await git(daemon.repository, ['checkout', '--quiet', '--detach']))],
    ['mid-merge', async () => writeFileSync(join(daemon.repository, '.git', 'MERGE_HEAD'), `${first}\n`)],
  ];
  test.each(sampleOf(states, 2))('leaves a work tree that is %s unchanged, byte for byte', async (_name, begin) => {
    const errand = await doneErrand(daemon, committing('a.txt', 'a'));
    await begin();
    const before = fingerprint(daemon.repository);
    await expect(daemon.client.mergeErrand(errand.id, {})).rejects.toMatchObject({ code: 'conflict' });
    expect(fingerprint(daemon.repository)).toEqual(before);
    expect((await view(errand.id)).status).toBe('running');
    expect(existsSync(errand.worktree ?? '')).toBe(true);
    rmSync(join(daemon.repository, '.git', 'MERGE_HEAD'), { force: true });
    await git(daemon.repository, ['checkout', '--quiet', '--force', 'main']);
    await git(daemon.repository, ['clean', '--quiet', '-fdx']);
    expect(await daemon.client.mergeErrand(errand.id, {})).toMatchObject({ already: false });
  });

  test('into main moves only main if another branch is checked out', async () => {
    const errand = await doneErrand(daemon, committing('a.txt', 'a'));
    await git(daemon.repository, ['checkout', '--quiet', '-B', 'elsewhere']);
    writeFileSync(join(daemon.repository, 'README.md'), 'mine\n');
    const { commit } = await daemon.client.mergeErrand(errand.id, { into: 'main' });
    expect(await tipOf('main')).toBe(commit);
    expect(readFileSync(join(daemon.repository, 'README.md'), 'utf8')).toBe('mine\n');
    expect(existsSync(join(daemon.repository, 'a.txt'))).toBe(false);
  });
});

test('an abandoned errand ends, even while it works; its files can be restored, and its branch stays', async () => {
  const { id } = await daemon.work(
    [...committing('a.txt', 'a'), { write: { path: 'left.txt', content: 'left' } }, { say: 'standing by' }, 'hang'],
    { mode: 'errand' },
  );
  await outputHas(daemon.client, id, 'standing by');
  const errand = await view(id);
  const answer = await daemon.client.abandonErrand(id);
  expect(answer).toMatchObject({ branch: errand.branch, agent: { status: 'dead', detail: 'abandoned' } });
  const end = (await view(id)).worktreeEnd;
  if (end?.state !== 'trashed') throw new Error(`the worktree is ${end?.state}`);
  expect(await git(daemon.repository, ['show', `${errand.branch}:a.txt`])).toBe('a');
  await daemon.client.restoreWorktree(end.entry);
  expect(readFileSync(join(errand.worktree ?? '', 'left.txt'), 'utf8')).toBe('left');
  expect(await daemon.client.abandonErrand(id)).toMatchObject({ branch: errand.branch });
  expect(existsSync(join(errand.worktree ?? '', 'left.txt'))).toBe(true);
  const { events } = await daemon.client.events({ agent: id, limit: 1000 });
  expect(events.filter(({ type }) => type === 'errand.abandoned')).toHaveLength(1);
});
