import { git, isolatedGitEnvironment } from '@pawl/testing/sample-repository';
import { waitUntil } from '@pawl/testing/wait-until';
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon } from '../support/daemon.ts';
import { changeNow, commitFiles, commitOn, configWith, propose, queueNow, reaches } from '../support/merge-queue.ts';

const author = { GIT_COMMITTER_NAME: 'Ada', GIT_COMMITTER_EMAIL: 'ada@example.invalid' };

type Place = TestDaemon & { origin: string; /** The commit that is dropped later. */ old: string };

/** A clone whose main, and its origin's, have a commit with `dropped.txt` that the queue has seen. */
async function startClone(rules: string): Promise<Place> {
  const daemon = await startTestDaemon();
  const { client, repository } = daemon;
  const origin = join(repository, '..', 'origin.git');
  await commitFiles(repository, { '.pawl/config.yaml': configWith('ls', `queue: {${rules}}\nfixer: false\n`) });
  const old = await commitFiles(repository, { 'dropped.txt': 'x\n' }, 'feat: what is dropped');
  await git(repository, ['clone', '--quiet', '--bare', repository, origin]);
  await git(repository, ['remote', 'add', 'origin', origin]);
  await git(repository, ['fetch', '--quiet', 'origin']);
  await client.allowPush({ path: repository });
  await client.checkQueue({ path: repository });
  // Before its first pass the queue shows the local main, so only the check proves the pass.
  await waitUntil(async () => (await queueNow(client)).green === old, { what: 'the queue to check main' });
  return Object.assign(daemon, { origin, old });
}

async function sees({ client }: TestDaemon, commit: string): Promise<void> {
  await waitUntil(async () => (await queueNow(client)).main === commit, {
    what: 'the queue to look',
  });
}

/** Replaces the last commit of origin's main, as a force-push does; the local main stays. */
async function rewrite(place: Place): Promise<string> {
  const tip = await commitOn(place.origin, 'main', { 'instead.txt': 'y\n' }, `${place.old}^`);
  await place.client.checkQueue({ path: place.repository });
  await sees(place, tip);
  return tip;
}

test('a change based on the old main is held with the list of commits, and not squashed with them', async () => {
  await using place = await startClone('auto: true');
  const { client, repository, origin, old } = place;
  await commitOn(repository, 'work/one', { 'one.txt': 'one\n' }, old);
  const tip = await rewrite(place);
  const { change } = await client.openChange({ path: repository, branch: 'work/one' });
  const { findings } = await reaches(client, change.id, 'needs-human-input');
  expect(findings).toMatchObject([{ kind: 'commits-dropped' }]);
  const at = `git -C ${repository}`;
  expect(findings[0]?.detail).toBe(
    `it has 1 commit that main had and lacks now (${old.slice(0, 10)} feat: what is dropped); to leave it out: ${at} fetch origin && ${at} rebase --onto ${tip.slice(0, 10)} ${old.slice(0, 10)} work/one, then: pawl change open work/one`,
  );
  // A change based on the new main is merged meanwhile.
  await git(repository, ['fetch', '--quiet', 'origin']);
  const other = await propose(client, repository, 'work/two', { 'two.txt': 'two\n' }, tip);
  await reaches(client, other.id, 'merged');
  expect(await git(origin, ['ls-tree', '--name-only', 'main'])).not.toMatch(/dropped\.txt|one\.txt/);
  // As the advice says, in the branch's worktree: without the dropped commit it is merged automatically.
  const worktree = join(repository, '..', 'a worktree');
  await git(repository, ['worktree', 'add', '--quiet', worktree, 'work/one']);
  await commitFiles(worktree, { 'more.txt': 'more\n' });
  await client.openChange({ path: repository, branch: 'work/one' });
  const said = await waitUntil(
    async () => {
      const now = await changeNow(client, change.id);
      return now.examinedHead === now.head ? (now.findings[0]?.detail ?? '') : undefined;
    },
    { what: 'the advice for the new head' },
  );
  const [, commands = ''] = /: (git -C .*), then: pawl change open work\/one$/.exec(said) ?? [];
  expect(commands).toContain(`git -C '${worktree}' rebase`);
  execFileSync('sh', ['-c', commands], {
    cwd: repository,
    env: { ...isolatedGitEnvironment(), ...author },
    stdio: 'pipe',
  });
  expect(await git(repository, ['rev-parse', '--abbrev-ref', 'HEAD'])).toBe('main');
  await client.openChange({ path: repository, branch: 'work/one' });
  await reaches(client, change.id, 'merged');
  const files = await git(origin, ['ls-tree', '--name-only', 'main']);
  expect(files).toContain('one.txt');
  expect(files).not.toContain('dropped.txt');
});

test('a change that was ready before the force-push is examined again, and an earlier approval does not count', async () => {
  await using place = await startClone('auto: false');
  const { client, repository, origin, old } = place;
  const { id } = await propose(client, repository, 'work/one', { 'one.txt': 'one\n' }, old);
  await reaches(client, id, 'ready');
  await client.approveChange(id);
  const tip = await rewrite(place);
  await reaches(client, id, 'needs-human-input');
  await client.mergeChange(id);
  expect((await reaches(client, id, 'needs-human-input')).findings).toMatchObject([{ kind: 'commits-dropped' }]);
  expect(await git(origin, ['rev-parse', 'main'])).toBe(tip);
  // A person may want them back.
  await client.approveChange(id);
  await reaches(client, id, 'merged');
  expect(await git(origin, ['ls-tree', '--name-only', 'main'])).toContain('dropped.txt');
});

test('queue, inbox and doctor report that local main has diverged, with both commits and what to do', async () => {
  await using place = await startClone('auto: true');
  const { client, old, repository } = place;
  expect((await queueNow(client)).advice).toEqual([]);
  const tip = await rewrite(place);
  const text = `local main (${old.slice(0, 10)}) has diverged from origin/main (${tip.slice(0, 10)}); the queue works from origin’s`;
  const look = 'git log --oneline --left-right main...origin/main';
  expect((await queueNow(client)).advice).toEqual([expect.stringContaining(text)]);
  expect((await queueNow(client)).advice[0]).toContain(look);
  const [entry] = (await client.inbox()).entries;
  expect(entry).toMatchObject({ kind: 'diverged', text });
  expect(entry?.next).toContain(look);
  // Its age counts from when the queue saw it, however late the inbox is read.
  const since = async () => (await client.inbox()).entries[0]?.since ?? 0;
  const isSame = async () => {
    const before = await since();
    await waitUntil(() => Date.now() > before, { what: 'the clock to move' });
    return before === (await since());
  };
  await waitUntil(isSame, { what: 'the age of the divergence' });
  const { findings } = await client.doctor();
  expect(findings).toContainEqual(
    expect.objectContaining({ check: 'branch', level: 'warning', message: `sample: ${text}` }),
  );
  // As the advice says.
  await git(repository, ['fetch', '--quiet', 'origin']);
  await git(repository, ['reset', '--quiet', '--keep', 'origin/main']);
  expect((await queueNow(client)).advice).toEqual([]);
  expect((await client.inbox()).entries).toEqual([]);
  await client.checkQueue({ path: repository });
  const said = await waitUntil(
    async () => {
      const { events } = await client.events({ limit: 1_000 });
      const found = events.filter(({ type }) => type === 'queue.diverged' || type === 'queue.converged');
      return found.length < 2 ? undefined : found;
    },
    { what: 'both events' },
  );
  expect(said).toMatchObject([
    { type: 'queue.diverged', data: { branch: 'main', local: old, remote: tip } },
    { type: 'queue.converged', data: { branch: 'main' } },
  ]);
});

test('a local main with its own commit: merge and work say so, and a rebase keeps it', async () => {
  await using place = await startClone('auto: false');
  const { client, repository, old } = place;
  const { id } = await propose(client, repository, 'work/one', { 'one.txt': 'one\n' }, old);
  await reaches(client, id, 'ready');
  const body = { path: repository, task: 'x', provider: 'scripted' };
  expect((await client.work(body, randomUUID())).baseNote).toBe(null);
  await commitFiles(repository, { 'mine.txt': 'mine\n' }, 'feat: mine');
  const { agent, baseNote } = await client.work(body, randomUUID());
  expect(agent.baseCommit).toBe(old);
  expect(baseNote).toBe(
    'it starts from origin/main, without 1 commit that only local main has; `pawl work --base main` starts with it',
  );
  const { warning } = await client.mergeChange(id);
  expect(warning).toBe(
    'local main has 1 commit that origin/main does not have, so the two diverge with this merge; afterwards: git fetch origin && git switch main && git rebase origin/main',
  );
  await reaches(client, id, 'merged');
  const diverged = await waitUntil(async () => (await client.inbox()).entries.find(({ kind }) => kind === 'diverged'), {
    what: 'the divergence',
  });
  expect(diverged.next.join()).not.toContain('reset');
  const env = { ...isolatedGitEnvironment(), ...author };
  for (const command of diverged.next) execFileSync('sh', ['-c', command], { cwd: repository, env, stdio: 'pipe' });
  expect(await git(repository, ['log', '-2', '--format=%s', 'main'])).toBe('feat: mine\nwork on work/one');
  expect((await client.inbox()).entries.filter(({ kind }) => kind === 'diverged')).toEqual([]);
});
