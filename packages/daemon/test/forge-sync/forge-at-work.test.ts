import { limits } from '@pawl/schema/limit';
import { createFakeGithub } from '@pawl/testing/fake-gh/fake-github';
import { git } from '@pawl/testing/sample-repository';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { waitUntil } from '@pawl/testing/wait-until';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { startTestDaemon } from '../support/daemon.ts';
import { changeNow, commitFiles, configWith, propose, queueNow, reaches } from '../support/merge-queue.ts';

/** A project on GitHub, its checkout, and a clock that can be set ahead. */
async function startOnGithub(path: string, more = '', run = 'cat README.md') {
  const server = await createFakeGithub(path);
  const url = 'https://github.com/octo/sample.git';
  // The URL is GitHub’s, but it leads to the fake server.
  const person = join(path, 'person');
  mkdirSync(person);
  writeFileSync(join(person, '.gitconfig'), `[url "${server.repository}"]\n\tinsteadOf = ${url}\n`);
  vi.stubEnv('HOME', person);
  vi.stubEnv('XDG_CONFIG_HOME', undefined);
  vi.stubEnv('PATH', `${server.bin}:${process.env['PATH']}`);
  const ahead = { ms: 0 };
  const clock = () => Date.now() + ahead.ms;
  const daemon = await startTestDaemon({ clock, timing: { queueMs: 200, queueWaitMs: 200 } });
  await git(daemon.repository, ['remote', 'add', 'origin', url]);
  const config = configWith(run, `queue:\n  auto: true\n  forge: github\n  remote: origin\n${more}`);
  await commitFiles(daemon.repository, { '.pawl/config.yaml': config });
  await git(daemon.repository, ['push', '--quiet', server.repository, 'main']);
  await daemon.client.allowPush({ path: daemon.repository });
  return { server, daemon, ahead };
}

test('a change is proposed, waits for its checks there, and is merged there by the queue', async () => {
  await using place = await temporaryDirectory();
  const { server, daemon, ahead } = await startOnGithub(place.path);
  await using _ = daemon;
  const { id, head } = await propose(daemon.client, daemon.repository, 'feature', { 'new.txt': 'new\n' });
  const pull = await waitUntil(() => server.on(({ pulls }) => pulls[0]), { what: 'a pull request' });
  expect(pull).toMatchObject({ branch: 'feature', head, labels: ['pawl'], draft: false });
  expect(await reaches(daemon.client, id, 'blocked')).toMatchObject({
    detail: 'github: its checks have not started there',
  });
  server.check(head, 'test', 'SUCCESS');
  ahead.ms += limits.forgeMs;
  const merged = await reaches(daemon.client, id, 'merged');
  const main = await git(server.repository, ['rev-parse', 'refs/heads/main']);
  expect(merged.mergedCommit).toBe(main);
  expect(server.on(({ pulls }) => pulls[0])).toMatchObject({ state: 'MERGED', mergeCommit: main });
  expect(await git(server.repository, ['show', 'main:new.txt'])).toBe('new');
  const merges = server.on(({ log }) => log.filter((words) => words[1] === 'merge'));
  expect(merges).toMatchObject([
    [
      'pr',
      'merge',
      '1',
      '--repo=github.com/octo/sample',
      '--squash',
      expect.any(String),
      expect.any(String),
      '--body-file=-',
    ],
  ]);
  expect(merges[0]?.[5]).toBe(`--match-head-commit=${head}`);
  expect(await changeNow(daemon.client, id)).toMatchObject({ forgeRef: '1' });
});

test('a main that is red there halts every merge, and the queue continues when it is green again [S4-07]', async () => {
  await using place = await temporaryDirectory();
  const { server, daemon, ahead } = await startOnGithub(place.path, 'fixer: false\n');
  await using _ = daemon;
  const { client, repository } = daemon;
  const main = await git(repository, ['rev-parse', 'main']);
  server.run('main', main, 'failure');
  const { id, head } = await propose(client, repository, 'feature', { 'new.txt': 'new\n' });
  const { emergency } = await waitUntil(
    async () => {
      const queue = await queueNow(client);
      return queue.emergency === null ? null : queue;
    },
    { what: 'the alarm' },
  );
  expect(emergency?.commit).toBe(main);
  server.check(head, 'test', 'SUCCESS');
  // While it is red there it is an emergency, whatever our own checks say.
  const looks = () => server.on(({ log }) => log.filter((words) => words[0] === 'run').length);
  const lookThere = async (times: number) => {
    for (let look = 0; look < times; look += 1) {
      const before = looks();
      ahead.ms += limits.forgeMs;
      await waitUntil(() => looks() > before, { what: 'a look at the forge' });
    }
  };
  await lookThere(3);
  const { running, checks, ...still } = await queueNow(client);
  expect(still.emergency).toEqual(emergency);
  expect([...running, ...checks].map(({ detail }) => detail)).toEqual(Array(2).fill('the checks of github failed'));
  // Requesting a check of ours does not end it either.
  await client.checkQueue({ path: repository });
  await waitUntil(async () => (await queueNow(client)).checks.some(({ outcome }) => outcome === 'passed'), {
    what: 'a check of main',
  });
  await lookThere(2);
  expect((await queueNow(client)).emergency).toEqual(emergency);
  const { events } = await client.events({ limit: 1000 });
  expect(events.filter(({ type }) => type.startsWith('emergency.')).map(({ type }) => type)).toEqual([
    'emergency.started',
  ]);
  server.run('main', main, 'success');
  ahead.ms += limits.forgeMs;
  await reaches(client, id, 'merged');
  expect((await queueNow(client)).emergency).toBeNull();
});

test('a change that the forge refuses waits alone, and the next one is merged', async () => {
  await using place = await temporaryDirectory();
  const { server, daemon, ahead } = await startOnGithub(place.path);
  await using _ = daemon;
  const { client, repository } = daemon;
  server.on((state) => (state.protection = { checks: ['theirs'], reviews: 0, upToDate: false }));
  const first = await propose(client, repository, 'first', { 'first.txt': 'x\n' });
  const second = await propose(client, repository, 'second', { 'second.txt': 'x\n' });
  await waitUntil(() => server.on(({ pulls }) => pulls.length === 2), { what: 'pull requests' });
  server.check(first.head, 'test', 'SUCCESS');
  server.check(second.head, 'theirs', 'SUCCESS');
  ahead.ms += limits.forgeMs;
  await reaches(client, second.id, 'merged');
  // The forge may have been polled before its check: then the next poll counts.
  await waitUntil(
    async () => {
      const { state, detail } = await changeNow(client, first.id);
      if (state === 'blocked' && detail.includes('policy prohibits the merge')) return true;
      ahead.ms += limits.forgeMs;
      return false;
    },
    { what: 'the forge to refuse the first change' },
  );
});

test('while gh is not logged in everything but merging continues, and main is not moved otherwise', async () => {
  await using place = await temporaryDirectory();
  const { server, daemon, ahead } = await startOnGithub(
    place.path,
    'fixer: false\n',
    'cat README.md; test ! -e bad.txt',
  );
  await using _ = daemon;
  const { client, repository } = daemon;
  server.on((state) => (state.trouble = { kind: 'auth', command: '', times: 1_000 }));
  const tips = async () => [
    await git(repository, ['rev-parse', 'main']),
    await git(server.repository, ['rev-parse', 'main']),
  ];
  const before = await tips();
  const bad = await propose(client, repository, 'bad', { 'bad.txt': 'x\n' });
  const good = await propose(client, repository, 'good', { 'good.txt': 'x\n' });
  expect(await reaches(client, bad.id, 'ejected')).toMatchObject({ detail: expect.stringContaining('checks fail') });
  expect((await reaches(client, good.id, 'blocked')).detail).toContain('github: gh is not logged in');
  const { waiting } = await waitUntil(
    async () => {
      const queue = await queueNow(client);
      return queue.waiting === null ? null : queue;
    },
    { what: 'the queue to say why' },
  );
  expect(waiting?.reason).toContain('gh is not logged in');
  expect(await tips()).toEqual(before);
  expect(server.on(({ log }) => log.length)).toBe(1);
  server.on((state) => (state.trouble = null));
  ahead.ms += limits.forgeRetryMs;
  await waitUntil(() => server.on(({ pulls }) => pulls.length === 2), { what: 'pull requests' });
  server.check(good.head, 'test', 'SUCCESS');
  ahead.ms += limits.forgeMs;
  await reaches(client, good.id, 'merged');
  expect((await queueNow(client)).waiting).toBeNull();
});
