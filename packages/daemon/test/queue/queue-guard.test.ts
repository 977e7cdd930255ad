import { git } from '@pawl/testing/sample-repository';
import { waitUntil } from '@pawl/testing/wait-until';
import { expect, test } from 'vitest';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon } from '../support/daemon.ts';
import { commitFiles, configWith, propose, queueNow, reaches } from '../support/merge-queue.ts';

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

test('a change that deletes half of the tests waits for a person, with the counts, and others continue', async () => {
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

test('tests that vanish behind new ones, in another change of the same batch, are noticed', async () => {
  await using daemon = await startWithTests();
  const { client, repository } = daemon;
  await client.pauseQueue({ path: repository });
  const more = await propose(client, repository, 'work/more', { 'test/three.test.js': tests(11, 30) });
  const fewer = await propose(client, repository, 'work/fewer', { 'test/two.test.js': tests(6, 7) });
  await client.resumeQueue({ path: repository });
  await reaches(client, more.id, 'merged');
  expect((await reaches(client, fewer.id, 'needs-human-input')).detail).toMatch(/fewer tests run: 30 before, 27 now/);
});

test('a change that skips a test, or edits the checks, waits before anything runs', async () => {
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

test('a change proposed while the guard was off is examined again before it is merged', async () => {
  await using daemon = await startWithTests();
  const { client, repository } = daemon;
  const command = `${process.execPath} --test`;
  await commitFiles(repository, { '.pawl/config.yaml': configWith(command, 'queue: { guard: false }\n') });
  await client.pauseQueue({ path: repository });
  const skip = await propose(client, repository, 'work/skip', {
    'test/one.test.js': tests(1, 5).replace("test('number 3'", "test.skip('number 3'"),
  });
  await waitUntil(async () => (await client.showChange(skip.id)).change.examinedHead !== null, { what: 'a look' });
  await commitFiles(repository, { '.pawl/config.yaml': configWith(command) });
  await client.resumeQueue({ path: repository });
  expect((await reaches(client, skip.id, 'needs-human-input')).findings.map(({ kind }) => kind)).toContain(
    'more-skips',
  );
});

test('an approval covers only what was shown: a lower test count is asked about even if an edited file was approved', async () => {
  await using daemon = await startWithTests();
  const { client, repository } = daemon;
  const change = await propose(client, repository, 'work/both', {
    '.pawl/config.yaml': `# another word\n${configWith(`${process.execPath} --test`)}`,
    'test/two.test.js': null,
  });
  expect((await reaches(client, change.id, 'needs-human-input')).findings).toMatchObject([{ kind: 'check-edited' }]);
  await client.approveChange(change.id);
  const again = await waitUntil(
    async () => {
      const { change: now } = await client.showChange(change.id);
      return now.state === 'needs-human-input' && now.findings.length === 2 ? now : null;
    },
    { what: 'another question' },
  );
  expect(again.findings.map(({ kind }) => kind)).toEqual(['check-edited', 'fewer-tests']);
  await client.approveChange(change.id);
  await reaches(client, change.id, 'merged');
});

test('a change that would make the checks unreadable is not merged, and the queue continues', async () => {
  await using daemon = await startWithTests();
  const { client, repository } = daemon;
  const broken = await propose(client, repository, 'work/broken', { '.pawl/config.yaml': 'checks: [\n' });
  await reaches(client, broken.id, 'needs-human-input');
  await client.approveChange(broken.id);
  expect((await reaches(client, broken.id, 'ejected')).detail).toContain('.pawl/config.yaml');
  const next = await propose(client, repository, 'work/next', { 'next.txt': 'x\n' });
  await reaches(client, next.id, 'merged');
});
