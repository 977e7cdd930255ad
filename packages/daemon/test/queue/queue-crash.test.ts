import type { Client } from '@pawl/protocol/client';
import type { CrashPoint } from '@pawl/schema/crash-point';
import { sampleOf } from '@pawl/testing/endurance';
import { git, sampleRepository } from '@pawl/testing/sample-repository';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { patienceMs, waitUntil } from '@pawl/testing/wait-until';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeScenario } from '../support/daemon.ts';
import { readyDaemon } from '../support/daemon-process.ts';
import { commitFiles, commitOn, configWith, everyTip, propose, queueNow, reaches } from '../support/merge-queue.ts';

/** A repository whose check records the tree that it ran at, and fails with a file `bad.txt`. */
async function makePlace(path: string, more = '') {
  const repository = join(path, 'sample');
  const trees = join(path, 'trees');
  await sampleRepository(repository);
  const run = `git rev-parse 'HEAD^{tree}' >> '${trees}'; sleep 0.1; echo checked; test ! -e bad.txt`;
  await commitFiles(repository, { '.pawl/config.yaml': configWith(run, more) });
  const treesRun = () => (existsSync(trees) ? readFileSync(trees, 'utf8').trim().split('\n') : []);
  return { repository, home: join(path, 'home'), treesRun };
}

/** Sends a request to a daemon that dies meanwhile. */
async function ask(client: Client, act: (client: Client) => Promise<unknown>): Promise<void> {
  await act(client).catch(() => undefined);
}

async function eventsOf(client: Client, type: string) {
  return (await client.events({ limit: 1000 })).events.filter((event) => event.type === type);
}

/** Kills daemons on one home, each at its point, and lets the next one continue. */
async function dieAt(home: string, points: readonly CrashPoint[], begin: (client: Client) => Promise<unknown>) {
  for (const [number, point] of points.entries()) {
    const daemon = await readyDaemon(home, { crashAt: point });
    if (number === 0) await ask(daemon.client, begin);
    // There are no other requests: the rest follows from stored facts.
    const timer = setTimeout(() => daemon.child.kill('SIGTERM'), patienceMs);
    expect([point, (await daemon.exited).signal]).toEqual([point, 'SIGKILL']);
    clearTimeout(timer);
  }
}

const beforeMain: CrashPoint[] = [
  'change.after_open',
  'check.after_row',
  'check.after_clone',
  'check.after_process',
  'check.after_exit',
  'check.after_result',
  'advance.after_intent',
  'advance.after_objects',
];
const afterMain: CrashPoint[] = ['advance.after_ref', 'advance.after_record'];

test(
  'killed at every step, a change is checked once and merged once, and main is never anywhere else [fault 2]',
  { timeout: 300_000 },
  async () => {
    await using place = await temporaryDirectory();
    const { repository, home, treesRun } = await makePlace(place.path);
    const before = await git(repository, ['rev-parse', 'main']);
    await commitOn(repository, 'work/one', { 'one.txt': 'one\n' });
    await dieAt(home, sampleOf(beforeMain, 3), async (client) => {
      await client.addProject({ path: repository });
      await client.openChange({ path: repository, branch: 'work/one' });
    });
    expect(await git(repository, ['rev-parse', 'main'])).toBe(before);
    expect(await git(repository, ['status', '--porcelain'])).toBe('');
    await dieAt(home, sampleOf(afterMain, 1), async () => undefined);
    const last = await readyDaemon(home);
    try {
      const { client } = last;
      const [change] = (await client.listChanges({ all: true })).changes;
      const { mergedCommit } = await reaches(client, change?.id ?? '', 'merged');
      expect((await everyTip(repository)).slice(-2)).toEqual([before, mergedCommit]);
      await waitUntil(async () => (await git(repository, ['status', '--porcelain'])) === '', {
        what: 'the files to follow',
      });
      expect(treesRun()).toContain(await git(repository, ['rev-parse', 'main^{tree}']));
      // The same tree is never checked twice; the main that it started from may have been checked as well.
      expect(new Set(treesRun()).size).toBe(treesRun().length);
      expect(await eventsOf(client, 'change.merged')).toHaveLength(1);
      expect(await eventsOf(client, 'main.advanced')).toHaveLength(1);
    } finally {
      await last.kill('SIGTERM');
    }
  },
);

test('killed after a push and while main follows, a change is recorded as merged and pushed once, and the checkout follows', async () => {
  await using place = await temporaryDirectory();
  const { repository, home } = await makePlace(place.path);
  const origin = join(place.path, 'origin.git');
  await git(repository, ['clone', '--quiet', '--bare', repository, origin]);
  await git(origin, ['config', 'core.logAllRefUpdates', 'always']);
  await git(repository, ['remote', 'add', 'origin', origin]);
  await commitOn(repository, 'work/one', { 'one.txt': 'one\n' });
  await dieAt(home, ['advance.after_push', 'follow.after_ref'], async (client) => {
    await client.addProject({ path: repository });
    await client.allowPush({ path: repository });
    await client.openChange({ path: repository, branch: 'work/one' });
  });
  const last = await readyDaemon(home);
  try {
    const [change] = (await last.client.listChanges({ all: true })).changes;
    const { mergedCommit } = await reaches(last.client, change?.id ?? '', 'merged');
    expect(await everyTip(origin)).toEqual([mergedCommit]);
    expect(await git(repository, ['rev-parse', 'main'])).toBe(mergedCommit);
    await waitUntil(async () => (await git(repository, ['status', '--porcelain'])) === '', {
      what: 'the files to follow',
    });
    expect(await eventsOf(last.client, 'change.merged')).toHaveLength(1);
  } finally {
    await last.kill('SIGTERM');
  }
});

test(
  'killed while a change waits for a person, it stays unrequested; killed after the request, it is merged once',
  { timeout: 300_000 },
  async () => {
    await using place = await temporaryDirectory();
    const { repository, home, treesRun } = await makePlace(place.path, 'queue: {auto: false}\n');
    const before = await git(repository, ['rev-parse', 'main']);
    await commitOn(repository, 'work/one', { 'one.txt': 'one\n' });
    await dieAt(home, ['check.after_result', 'queue.after_pass'], async (client) => {
      await client.addProject({ path: repository });
      await client.openChange({ path: repository, branch: 'work/one' });
    });
    expect(await git(repository, ['rev-parse', 'main'])).toBe(before);
    const asking = await readyDaemon(home, { crashAt: 'change.after_ask' });
    const [change] = (await asking.client.listChanges()).changes;
    expect(change).toMatchObject({ state: 'ready', askedHead: null });
    await ask(asking.client, (client) => client.mergeChange(change?.id ?? ''));
    expect((await asking.exited).signal).toBe('SIGKILL');
    await dieAt(home, ['advance.after_intent', 'advance.after_record'], async () => undefined);
    const last = await readyDaemon(home);
    try {
      const { mergedCommit } = await reaches(last.client, change?.id ?? '', 'merged');
      expect((await everyTip(repository)).slice(-2)).toEqual([before, mergedCommit]);
      expect(treesRun()).toContain(await git(repository, ['rev-parse', `${mergedCommit}^{tree}`]));
      expect(new Set(treesRun()).size).toBe(treesRun().length);
      for (const type of ['change.passed', 'change.asked', 'change.merged'])
        expect([type, await eventsOf(last.client, type)]).toEqual([type, [expect.anything()]]);
    } finally {
      await last.kill('SIGTERM');
    }
  },
);

test('killed at queue.after_eject, the culprit is ejected once, and the others are merged', async () => {
  await using place = await temporaryDirectory();
  const { repository, home } = await makePlace(place.path);
  const first = await readyDaemon(home, { crashAt: 'queue.after_eject' });
  await first.client.addProject({ path: repository });
  await first.client.pauseQueue({ path: repository });
  const bad = await propose(first.client, repository, 'work/bad', { 'bad.txt': 'x\n' });
  const good = await propose(first.client, repository, 'work/good', { 'good.txt': 'x\n' });
  await ask(first.client, (client) => client.resumeQueue({ path: repository }));
  expect((await first.exited).signal).toBe('SIGKILL');
  const second = await readyDaemon(home);
  try {
    await reaches(second.client, good.id, 'merged');
    await reaches(second.client, bad.id, 'ejected');
    expect(await eventsOf(second.client, 'change.ejected')).toHaveLength(1);
  } finally {
    await second.kill('SIGTERM');
  }
});

test('killed when an emergency starts, it is still on, with one fix worker [invariant 22]', async () => {
  await using place = await temporaryDirectory();
  const steps = [{ sleep: '200ms' }, { shell: 'git rm --quiet bad.txt' }, { commit: 'fix: without it' }, 'complete'];
  const scenario = await writeScenario(place.path, steps);
  const fixer = `fixer:\n  as: worker\n  provider: scripted\n  options: { scenario: ${JSON.stringify(scenario)} }\n`;
  const { repository, home } = await makePlace(place.path, fixer);
  const red = await commitFiles(repository, { 'bad.txt': 'x\n' });
  await dieAt(home, ['emergency.after_record', 'emergency.after_fixer'], async (client) => {
    await client.addProject({ path: repository });
    await client.checkQueue({ path: repository });
  });
  const last = await readyDaemon(home);
  try {
    const { client } = last;
    await waitUntil(async () => (await queueNow(client)).emergency === null, {
      what: 'main to be green again',
    });
    expect(await eventsOf(client, 'emergency.started')).toMatchObject([{ data: { commit: red } }]);
    const { agents } = await client.listAgents({ all: true });
    expect(agents.filter(({ definition }) => definition === 'worker')).toHaveLength(1);
  } finally {
    await last.kill('SIGTERM');
  }
});
