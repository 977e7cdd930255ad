import { endurance } from '@pawl/testing/endurance';
import { git } from '@pawl/testing/sample-repository';
import { waitUntil } from '@pawl/testing/wait-until';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon } from '../support/daemon.ts';
import {
  changeNow,
  checkScript,
  commitFiles,
  commitOn,
  configWith,
  everyTip,
  propose,
  queueNow,
  reaches,
  runsIn,
} from '../support/merge-queue.ts';

/** A daemon whose project has a check that records each of its runs. */
async function startQueue(more = ''): Promise<TestDaemon & { runs: string }> {
  const daemon = await startTestDaemon();
  const runs = join(daemon.home.root, '..', 'runs');
  await commitFiles(daemon.repository, {
    'check.sh': checkScript(runs),
    '.pawl/config.yaml': configWith('sh check.sh', more),
  });
  return Object.assign(daemon, { runs });
}

/** The same, once main has passed its check: no later run is main's own. */
async function startGreenQueue(): Promise<TestDaemon & { runs: string }> {
  const daemon = await startQueue();
  const { client, repository, runs } = daemon;
  await client.checkQueue({ path: repository });
  await waitUntil(async () => (await queueNow(client)).green !== null, { what: 'main to be green' });
  writeFileSync(runs, '');
  return daemon;
}

test('a passing change is on main, at exactly the commit that was checked [S4-01]', async () => {
  await using daemon = await startQueue();
  const { client, repository } = daemon;
  const before = await git(repository, ['rev-parse', 'main']);
  const change = await propose(client, repository, 'work/one', { 'one.txt': 'one\n' });
  const merged = await reaches(client, change.id, 'merged');
  const tip = await git(repository, ['rev-parse', 'main']);
  expect(merged.mergedCommit).toBe(tip);
  const { checks } = await client.showChange(change.id);
  expect(checks).toMatchObject([{ outcome: 'passed', commit: tip, onto: before }]);
  // Main was checked out and clean, so its files followed.
  expect(await git(repository, ['status', '--porcelain'])).toBe('');
  expect(await git(repository, ['show', 'main:one.txt'])).toBe('one');
  expect(await git(repository, ['log', '-1', '--format=%an %P', 'main'])).toBe(`Ada ${before}`);
});

test('good waiting changes are merged with one check, and main has one step for all of them', async () => {
  await using daemon = await startGreenQueue();
  const { client, repository, runs } = daemon;
  await client.pauseQueue({ path: repository });
  const ids: string[] = [];
  for (let number = 1; number <= 6; number++) {
    const change = await propose(client, repository, `work/w${number}`, { [`file-${number}.txt`]: `${number}\n` });
    ids.push(change.id);
  }
  await client.resumeQueue({ path: repository });
  for (const id of ids) await reaches(client, id, 'merged');
  expect(runsIn(runs)).toBe(1);
  const line = await git(repository, ['rev-list', '--first-parent', 'main']);
  expect(line.split('\n')).toHaveLength(3);
  const files = await git(repository, ['ls-tree', '--name-only', 'main']);
  expect(files.split('\n').filter((name) => name.startsWith('file-'))).toHaveLength(6);
});

test('a main that was never checked is checked beside the first change', async () => {
  await using daemon = await startTestDaemon();
  const { client, repository } = daemon;
  const gate = join(daemon.home.root, '..', 'gate');
  const run = `echo waiting; until [ -e '${gate}' ]; do sleep 0.05; done`;
  await commitFiles(repository, { '.pawl/config.yaml': configWith(run) });
  const main = await git(repository, ['rev-parse', 'main']);
  const change = await propose(client, repository, 'work/one', { 'one.txt': 'one\n' });
  const running = async () => (await queueNow(client)).running;
  await waitUntil(async () => (await running()).length === 2, { what: 'both checks to run' });
  expect((await running()).map(({ commit }) => commit)).toContain(main);
  writeFileSync(gate, '');
  await reaches(client, change.id, 'merged');
});

/** Bisecting: one check of all, one for each halving, and two that name the culprit. */
const batch = endurance({ whole: 16, small: 8 });
const checksToFindOne = 3 + Math.log2(batch);

test('only the bad change of a batch is ejected, after bisecting', async () => {
  await using daemon = await startGreenQueue();
  const { client, repository, runs } = daemon;
  await client.pauseQueue({ path: repository });
  const ids: string[] = [];
  for (let number = 1; number <= batch; number++) {
    const name = number === 6 ? 'bad.txt' : `file-${number}.txt`;
    ids.push((await propose(client, repository, `work/w${number}`, { [name]: `${number}\n` })).id);
  }
  await client.resumeQueue({ path: repository });
  for (const [index, id] of ids.entries()) await reaches(client, id, index === 5 ? 'ejected' : 'merged');
  const bad = await changeNow(client, ids[5] ?? '');
  expect(bad.ejection).toMatchObject({ kind: 'red', reason: 'the checks fail with it: exit code 1' });
  expect(runsIn(runs)).toBeLessThanOrEqual(checksToFindOne);
  const log = await client.changeLog(bad.id);
  expect(log.output.map(({ text }) => text).join('')).toContain('failed: bad.txt');
});

test('a flaky failure is retried once, recorded, and ejects nothing', async () => {
  await using daemon = await startGreenQueue();
  const { client, repository } = daemon;
  const change = await propose(client, repository, 'work/flaky', { 'first-time.txt': 'x\n' });
  await reaches(client, change.id, 'merged');
  const { events } = await client.events({ limit: 1000 });
  const ends = events.filter(({ type }) => type === 'check.ended').map(({ data }) => data);
  expect(ends.slice(1)).toMatchObject([
    { outcome: 'failed', flaky: false },
    { outcome: 'passed', flaky: true },
  ]);
});

test('a change that conflicts with main is ejected with the files, and merged once it has moved', async () => {
  await using daemon = await startQueue();
  const { client, repository } = daemon;
  const base = await git(repository, ['rev-parse', 'main']);
  const first = await propose(client, repository, 'work/first', { 'README.md': '# First\n' });
  await reaches(client, first.id, 'merged');
  const second = await propose(client, repository, 'work/second', { 'README.md': '# Second\n' }, base);
  const ejected = await reaches(client, second.id, 'ejected');
  expect(ejected.ejection).toMatchObject({ kind: 'conflict', files: ['README.md'] });
  await commitOn(repository, 'work/second', { 'README.md': '# First and second\n' }, 'main');
  const moved = await client.openChange({ path: repository, branch: 'work/second' });
  expect(moved).toMatchObject({ created: false, moved: true, change: { id: second.id } });
  await reaches(client, second.id, 'merged');
  expect(await git(repository, ['show', 'main:README.md'])).toBe('# First and second');
});

test('a main moved by hand during the checks is never overwritten, and the change is checked on it [fault 31]', async () => {
  await using daemon = await startTestDaemon();
  const { client, repository } = daemon;
  const gate = join(daemon.home.root, '..', 'gate');
  const run = `echo waiting; until [ -e '${gate}' ]; do sleep 0.05; done; test ! -e bad`;
  await commitFiles(repository, { '.pawl/config.yaml': configWith(run) });
  const change = await propose(client, repository, 'work/one', { 'one.txt': 'one\n' });
  await reaches(client, change.id, 'testing');
  const byHand = await commitFiles(repository, { 'by-hand.txt': 'mine\n' }, 'by hand');
  writeFileSync(gate, '');
  const merged = await reaches(client, change.id, 'merged');
  const tips = await everyTip(repository);
  expect(tips.slice(-2)).toEqual([byHand, merged.mergedCommit]);
  const { checks } = await client.showChange(change.id);
  expect(checks.find(({ outcome }) => outcome === 'passed')).toMatchObject({
    onto: byHand,
    commit: merged.mergedCommit,
  });
  await waitUntil(async () => (await queueNow(client)).green === merged.mergedCommit, { what: 'main to be green' });
});

test('a change that main already contains is closed, and nothing is merged twice', async () => {
  await using daemon = await startQueue();
  const { client, repository } = daemon;
  const base = await git(repository, ['rev-parse', 'main']);
  const first = await propose(client, repository, 'work/first', { 'same.txt': 'same\n' });
  await reaches(client, first.id, 'merged');
  const tip = await git(repository, ['rev-parse', 'main']);
  const second = await propose(client, repository, 'work/second', { 'same.txt': 'same\n' }, base);
  const closed = await reaches(client, second.id, 'closed');
  expect(closed.detail).toBe('main already contains it');
  expect(await git(repository, ['rev-parse', 'main'])).toBe(tip);
});

test('a change retried unchanged is checked again, and merged if the failure was not its fault', async () => {
  await using daemon = await startTestDaemon();
  const { client, repository } = daemon;
  const service = join(daemon.home.root, '..', 'service');
  await commitFiles(repository, {
    '.pawl/config.yaml': configWith(`echo asking; test ! -e one.txt || test -e '${service}'`),
  });
  const change = await propose(client, repository, 'work/one', { 'one.txt': 'one\n' });
  await reaches(client, change.id, 'ejected');
  writeFileSync(service, '');
  await client.retryChange(change.id);
  await reaches(client, change.id, 'merged');
});

test('a change that was merged and then removed from main is merged again, with everything built on it', async () => {
  await using daemon = await startQueue();
  const { client, repository } = daemon;
  const before = await git(repository, ['rev-parse', 'main']);
  const first = await propose(client, repository, 'work/first', { 'first.txt': '1\n' });
  await reaches(client, first.id, 'merged');
  // A branch based on the first one, which was squashed: only its own part is new.
  await commitOn(repository, 'work/second', { 'second.txt': '2\n' }, 'work/first');
  await git(repository, ['reset', '--quiet', '--hard', before]);
  const { change } = await client.openChange({ path: repository, branch: 'work/second' });
  await reaches(client, change.id, 'merged');
  expect(await git(repository, ['ls-tree', '--name-only', 'main'])).toContain('first.txt\nsecond.txt');
});

test('a branch based on a squashed one brings only its own part', async () => {
  await using daemon = await startQueue();
  const { client, repository } = daemon;
  const first = await propose(client, repository, 'work/first', { 'README.md': '# One\n' });
  await commitOn(repository, 'work/second', { 'README.md': '# One and two\n' }, 'work/first');
  await reaches(client, first.id, 'merged');
  const { change } = await client.openChange({ path: repository, branch: 'work/second' });
  await reaches(client, change.id, 'merged');
  expect(await git(repository, ['show', 'main:README.md'])).toBe('# One and two');
});
