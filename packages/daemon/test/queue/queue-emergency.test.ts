import { git } from '@pawl/testing/sample-repository';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { waitUntil } from '@pawl/testing/wait-until';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon } from '../support/daemon.ts';
import { checkScript, commitFiles, configWith, propose, queueNow, reaches } from '../support/merge-queue.ts';

/** A daemon with a queue whose main is green, and a fixer that plays a scenario. */
async function startGreen(steps: unknown[]): Promise<TestDaemon> {
  const daemon = await startTestDaemon();
  const { client, repository } = daemon;
  const scenario = await daemon.scenario(steps);
  const fixer = `fixer:\n  as: worker\n  provider: scripted\n  options: { scenario: ${JSON.stringify(scenario)} }\n`;
  await commitFiles(repository, {
    'check.sh': checkScript(join(repository, '..', 'runs')),
    '.pawl/config.yaml': configWith('sh check.sh', fixer),
  });
  const first = await propose(client, repository, 'work/first', { 'first.txt': '1\n' });
  await reaches(client, first.id, 'merged');
  return daemon;
}

/** Waits until main is known to be red. */
async function alarmed(daemon: TestDaemon) {
  return waitUntil(async () => (await queueNow(daemon.client)).emergency, { what: 'the alarm' });
}

const repair = [{ shell: 'git rm --quiet bad.txt' }, { commit: 'fix: without it' }, 'complete'];

test('a red main halts every merge, one worker repairs it, and the queue continues when it is green [S4-07, invariant 22]', async () => {
  await using place = await temporaryDirectory();
  const gate = join(place.path, 'proposed');
  await using daemon = await startGreen([{ shell: `until [ -e '${gate}' ]; do sleep 0.02; done` }, ...repair]);
  const { client, repository } = daemon;
  const red = await commitFiles(repository, { 'bad.txt': 'x\n' }, 'by hand, and wrong');
  await client.checkQueue({ path: repository });
  const emergency = await alarmed(daemon);
  expect(emergency.commit).toBe(red);
  const waiting = await propose(client, repository, 'work/waiting', { 'waiting.txt': 'w\n' }, 'main~1');
  expect(waiting).toMatchObject({ state: 'queued', detail: `waits: main is red at ${red.slice(0, 10)}` });
  writeFileSync(gate, '');
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

test('a main that fails once and then passes is not an emergency', async () => {
  await using daemon = await startGreen([]);
  const { client, repository } = daemon;
  await commitFiles(repository, { 'first-time.txt': 'x\n' });
  await client.checkQueue({ path: repository });
  const tip = await git(repository, ['rev-parse', 'main']);
  await waitUntil(async () => (await queueNow(client)).green === tip, { what: 'main to be green' });
  const ended = (await queueNow(client)).checks.filter(({ commit }) => commit === tip);
  expect(ended.map(({ outcome }) => outcome)).toEqual(['passed', 'failed']);
  const { events } = await client.events({ limit: 1000 });
  expect(events.filter(({ type }) => type === 'emergency.started')).toEqual([]);
});

test('an outage ejects no change: main is found red, and the changes are merged when it is over', async () => {
  await using daemon = await startTestDaemon();
  const { client, repository } = daemon;
  const outage = join(repository, '..', 'outage');
  const run = `echo asking; test ! -e '${outage}'`;
  await commitFiles(repository, { '.pawl/config.yaml': configWith(run, 'fixer: false\n') });
  const first = await propose(client, repository, 'work/first', { 'first.txt': '1\n' });
  await reaches(client, first.id, 'merged');
  writeFileSync(outage, '');
  const ids: string[] = [];
  for (const name of ['a', 'b', 'c'])
    ids.push((await propose(client, repository, `work/${name}`, { [`${name}.txt`]: 'x\n' })).id);
  await alarmed(daemon);
  rmSync(outage);
  await client.checkQueue({ path: repository });
  for (const id of ids) await reaches(client, id, 'merged');
  const { events } = await client.events({ limit: 1000 });
  expect(events.filter(({ type }) => type === 'change.ejected')).toEqual([]);
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
    what: 'the end of it',
  });
});
