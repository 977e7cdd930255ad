import { sampleOf } from '@pawl/testing/endurance';
import { git, isolatedGitEnvironment } from '@pawl/testing/sample-repository';
import { waitUntil } from '@pawl/testing/wait-until';
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon } from '../support/daemon.ts';
import { committing } from '../support/errand.ts';
import { commitFiles, configWith, propose, queueNow, reaches } from '../support/merge-queue.ts';

const config = configWith('echo passed', 'queue: {auto: false}\nfixer: false\n');

/** A clone of a bare origin, with its own identity. */
async function startClone(): Promise<TestDaemon & { origin: string }> {
  // No timer runs here: only a request triggers a queue pass after a push.
  const daemon = await startTestDaemon({ timing: { queueMs: 600_000 } });
  const { repository } = daemon;
  const origin = join(repository, '..', 'origin.git');
  await git(repository, ['clone', '--quiet', '--bare', repository, origin]);
  await git(repository, ['remote', 'add', 'origin', origin]);
  await git(repository, ['fetch', '--quiet', 'origin']);
  await git(repository, ['config', 'user.name', 'Ada']);
  await git(repository, ['config', 'user.email', 'ada@example.invalid']);
  return Object.assign(daemon, { origin });
}

function writeConfig(repository: string, text = config): void {
  mkdirSync(join(repository, '.pawl'), { recursive: true });
  writeFileSync(join(repository, '.pawl', 'config.yaml'), text);
}

/** Runs the commands in a text literally, in a shell in the checkout. */
function follow(repository: string, text: string): void {
  const commands = [...text.matchAll(/`(git [^`]*)`/g)].map(([, command = '']) => command);
  expect(commands.length).toBeGreaterThan(0);
  for (const command of commands) {
    execFileSync('sh', ['-c', command], { cwd: repository, env: isolatedGitEnvironment(), stdio: 'pipe' });
  }
}

const checkouts: [string, (repository: string) => Promise<unknown>][] = [
  ['on main', async () => undefined],
  ['on main, where it is committed and not pushed', (at) => commitFiles(at, { '.pawl/config.yaml': config })],
  ['on another branch', (at) => git(at, ['switch', '--quiet', '-c', 'feature'])],
  [
    'on another branch, where it is committed',
    async (at) => {
      await git(at, ['switch', '--quiet', '-c', 'feature']);
      await commitFiles(at, { '.pawl/config.yaml': config });
    },
  ],
  ['on a detached HEAD', (at) => git(at, ['switch', '--quiet', '--detach'])],
];

test.each(sampleOf(checkouts, 2))(
  'the commands of init and of a refused merge work literally, and the next merge succeeds: %s',
  async (_name, prepare) => {
    await using place = await startClone();
    const { client, repository } = place;
    writeConfig(repository);
    await prepare(repository);
    const head = await git(repository, ['rev-parse', '--abbrev-ref', 'HEAD']);
    const { merging } = await client.addProject({ path: repository });
    const { id } = await propose(client, repository, 'work/one', { 'one.txt': 'one\n' }, 'origin/main');
    const { detail } = await reaches(client, id, 'ready');
    const refused = await client.mergeChange(id).catch((error: unknown) => error as Error);
    const text = merging?.notCommitted ?? '';
    expect(detail).toContain(text);
    expect(refused).toMatchObject({ code: 'conflict', message: `Nothing is merged: ${text}.` });
    follow(repository, text);
    expect(await git(repository, ['rev-parse', '--abbrev-ref', 'HEAD'])).toBe(head);
    const { note, change } = await client.mergeChange(id);
    expect(note).toContain('merges into main when its checks pass');
    expect(change.detail).not.toContain('not committed');
    await reaches(client, id, 'merged');
  },
);

test('work describes what happens by the configuration that was just pushed', async () => {
  await using place = await startClone();
  const { client, repository } = place;
  writeConfig(repository);
  const line = async () =>
    (await client.work({ path: repository, task: 'x', provider: 'scripted' }, randomUUID())).whenDone?.text;
  const { id } = await propose(client, repository, 'work/one', { 'one.txt': 'one\n' });
  await reaches(client, id, 'ready');
  // Only a committed configuration makes a playground.
  expect(await line()).toContain('it is a stand-in');
  const { merging } = await client.addProject({ path: repository });
  follow(repository, merging?.notCommitted ?? '');
  expect(await line()).toContain('you merge it with `pawl change merge`');
});

test('a broken configuration on main is reported by init, work, inbox and doctor, with and without a queue', async () => {
  await using daemon = await startTestDaemon();
  const { client, repository } = daemon;
  await client.addProject({ path: repository });
  await commitFiles(repository, { '.pawl/config.yaml': 'checks: {' });
  const broken = /\.pawl\/config\.yaml of [0-9a-f]{10}/;
  const expectNamed = async () => {
    const { merging } = await client.addProject({ path: repository });
    expect(merging).toMatchObject({ outcome: 'nothing', text: expect.stringMatching(broken) });
    const { whenDone } = await client.work({ path: repository, task: 'x', provider: 'scripted' }, randomUUID());
    expect(whenDone).toMatchObject({ outcome: 'nothing', text: expect.stringMatching(broken) });
    const { entries } = await client.inbox();
    expect(entries).toMatchObject([{ kind: 'configuration', detail: expect.stringMatching(broken) }]);
    const { findings } = await client.doctor();
    expect(findings).toContainEqual(
      expect.objectContaining({ check: 'configuration', level: 'error', message: expect.stringMatching(broken) }),
    );
  };
  await expectNamed();
  await commitFiles(repository, { '.pawl/config.yaml': configWith('echo passed') });
  const { id } = await propose(client, repository, 'work/one', { 'one.txt': 'one\n' });
  await reaches(client, id, 'merged');
  expect((await client.inbox()).entries).toEqual([]);
  await git(repository, ['reset', '--quiet', '--hard']);
  await commitFiles(repository, { '.pawl/config.yaml': 'checks: {' });
  await expectNamed();
  expect((await queueNow(client)).project.name).toBe('sample');
});

test('work finished while the configuration is broken is proposed once it is fixed', async () => {
  await using daemon = await startTestDaemon();
  const { client, repository } = daemon;
  await client.addProject({ path: repository });
  await commitFiles(repository, { '.pawl/config.yaml': 'checks: {' });
  const agent = await daemon.work([...committing('one.txt', 'one'), 'complete']);
  await daemon.ended(agent.id);
  await waitUntil(async () => (await queueNow(client)).waiting !== null, { what: 'the queue to name the trouble' });
  await commitFiles(repository, { '.pawl/config.yaml': configWith('echo passed') });
  const isProposed = async () => (await client.listChanges({ path: repository, all: true })).changes.length === 1;
  await waitUntil(isProposed, { what: 'its change' });
});
