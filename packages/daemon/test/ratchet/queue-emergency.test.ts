import { git } from '@pawl/testing/sample-repository';
import { waitUntil } from '@pawl/testing/wait-until';
import { expect, test } from 'vitest';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon } from '../support/daemon.ts';
import { checkScript, commitFiles, configWith, propose, queueNow, reaches } from '../support/ratchet.ts';

/** A daemon with a queue whose main is green, and somebody who repairs main by what a scenario says. */
async function startGreen(steps: unknown[]): Promise<TestDaemon> {
  const daemon = await startTestDaemon();
  const { client, repository } = daemon;
  const scenario = await daemon.scenario(steps);
  const fixer = `fixer:\n  as: worker\n  provider: scripted\n  options: { scenario: ${JSON.stringify(scenario)} }\n`;
  await commitFiles(repository, { 'check.sh': checkScript(), '.pawl/config.yaml': configWith('sh check.sh', fixer) });
  const first = await propose(client, repository, 'work/first', { 'first.txt': '1\n' });
  await reaches(client, first.id, 'merged');
  return daemon;
}

/** Waits until main is known to be red. */
async function alarmed(daemon: TestDaemon) {
  return waitUntil(async () => (await queueNow(daemon.client)).emergency, { timeoutMs: 20_000, what: 'the alarm' });
}

const repair = [{ shell: 'git rm --quiet bad.txt' }, { commit: 'fix: without it' }, 'complete'];

test('S4-07, invariant 22: a red main halts every merge, one worker repairs it, and the queue goes on when it is green', async () => {
  await using daemon = await startGreen([{ sleep: '300ms' }, ...repair]);
  const { client, repository } = daemon;
  const red = await commitFiles(repository, { 'bad.txt': 'x\n' }, 'by hand, and wrong');
  await client.checkQueue({ path: repository });
  const emergency = await alarmed(daemon);
  expect(emergency.commit).toBe(red);
  const waiting = await propose(client, repository, 'work/waiting', { 'waiting.txt': 'w\n' }, 'main~1');
  expect(waiting).toMatchObject({ state: 'queued', detail: `waits: main is red at ${red.slice(0, 10)}` });
  await reaches(client, waiting.id, 'merged');
  const queue = await waitUntil(
    async () => {
      const now = await queueNow(client);
      return now.emergency === null && now.green === now.main ? now : null;
    },
    { what: 'main to be green' },
  );
  expect(await git(repository, ['ls-tree', '--name-only', queue.main ?? ''])).not.toContain('bad.txt');
  const { events } = await client.events({ limit: 1000 });
  const story = events.filter(({ type }) => type.startsWith('emergency.') || type === 'main.advanced');
  expect(story.map(({ type }) => type)).toEqual([
    'main.advanced',
    'emergency.started',
    'main.advanced',
    'emergency.ended',
    'main.advanced',
  ]);
  const { agents } = await client.listAgents({ all: true });
  expect(agents.filter(({ definition }) => definition === 'worker')).toHaveLength(1);
});

test('main that is red only once is no emergency', async () => {
  await using daemon = await startGreen([]);
  const { client, repository } = daemon;
  const { counts: _, ...before } = await queueNow(client);
  expect(before.emergency).toBeNull();
  await client.checkQueue({ path: repository });
  await waitUntil(async () => (await queueNow(client)).checks.length > before.checks.length, {
    what: 'a check of main',
  });
  expect((await queueNow(client)).emergency).toBeNull();
});

test('a person who pushes a repair ends the emergency', async () => {
  await using daemon = await startGreen([{ sleep: '10m' }]);
  const { client, repository } = daemon;
  await commitFiles(repository, { 'bad.txt': 'x\n' });
  await client.checkQueue({ path: repository });
  await alarmed(daemon);
  await commitFiles(repository, { 'bad.txt': null }, 'repaired by hand');
  await client.checkQueue({ path: repository });
  await waitUntil(async () => (await queueNow(client)).emergency === null, {
    timeoutMs: 20_000,
    what: 'the end of it',
  });
});
