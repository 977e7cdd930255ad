import { git } from '@pawl/testing/sample-repository';
import { expect, test } from 'vitest';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon } from '../support/daemon.ts';
import { commitFiles, configWith, propose, queueNow, reaches } from '../support/ratchet.ts';

const tests = (from: number, to: number) =>
  [
    "const test = require('node:test');",
    ...Array.from({ length: to - from + 1 }, (_, index) => `test('number ${from + index}', () => {});`),
  ].join('\n') + '\n';

/** A daemon whose project has ten tests in two files. */
async function startWithTests(): Promise<TestDaemon> {
  const daemon = await startTestDaemon();
  await commitFiles(daemon.repository, {
    'test/one.test.js': tests(1, 5),
    'test/two.test.js': tests(6, 10),
    '.pawl/config.yaml': configWith(`${process.execPath} --test`),
  });
  return daemon;
}

test('a change that deletes half of the tests waits for a person, with the counts, and others go on', async () => {
  await using daemon = await startWithTests();
  const { client, repository } = daemon;
  const fewer = await propose(client, repository, 'work/fewer', { 'test/two.test.js': null });
  const more = await propose(client, repository, 'work/more', { 'test/three.test.js': tests(11, 12) });
  const stopped = await reaches(client, fewer.id, 'needs-human-input');
  expect(stopped.detail).toMatch(/fewer tests run: 1[02] before, [57] now/);
  await reaches(client, more.id, 'merged');
  expect((await client.inbox()).changes.map(({ id }) => id)).toEqual([fewer.id]);
  await client.approveChange(fewer.id);
  await reaches(client, fewer.id, 'merged');
  expect((await queueNow(client)).counts).toEqual({ run: 7, failed: 0, skipped: 0 });
});

test('tests that vanish behind new ones, in another change of the same batch, are seen all the same', async () => {
  await using daemon = await startWithTests();
  const { client, repository } = daemon;
  await client.pauseQueue({ path: repository });
  const more = await propose(client, repository, 'work/more', { 'test/three.test.js': tests(11, 30) });
  const fewer = await propose(client, repository, 'work/fewer', { 'test/two.test.js': tests(6, 7) });
  await client.resumeQueue({ path: repository });
  await reaches(client, more.id, 'merged');
  expect((await reaches(client, fewer.id, 'needs-human-input')).detail).toMatch(/fewer tests run: 30 before, 27 now/);
});

test('a change that skips a test, or edits what the checks are, waits before anything runs', async () => {
  await using daemon = await startWithTests();
  const { client, repository } = daemon;
  const skip = await propose(client, repository, 'work/skip', {
    'test/one.test.js': tests(1, 5).replace("test('number 3'", "test.skip('number 3'"),
  });
  const config = await propose(client, repository, 'work/config', { '.pawl/config.yaml': configWith('echo fine') });
  expect((await reaches(client, skip.id, 'needs-human-input')).findings).toMatchObject([{ kind: 'skip-added' }]);
  expect((await reaches(client, config.id, 'needs-human-input')).findings).toMatchObject([{ kind: 'check-edited' }]);
  expect((await queueNow(client)).running).toEqual([]);
  expect(await git(repository, ['log', '-1', '--format=%s', 'main'])).toBe('files');
});
