import { git } from '@pawl/testing/sample-repository';
import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agentClient } from '../support/agent-client.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon } from '../support/daemon.ts';
import {
  changeNow,
  commitFiles,
  commitOn,
  configWith,
  propose,
  queueNow,
  reaches,
  runsIn,
} from '../support/merge-queue.ts';

type Place = TestDaemon & {
  /** Everything that a merge or a push would change: the refs of the origin, and main. */
  refs(): Promise<string>;
  /** How many checks have run. */
  runs(): number;
  origin: string;
};

/** A daemon whose project has a committed configuration; with a remote, cloned to a bare origin. */
async function start(rules: string, { remote = false } = {}): Promise<Place> {
  const daemon = await startTestDaemon();
  const { repository } = daemon;
  const runs = join(repository, '..', 'runs');
  const run = `echo run >> '${runs}'; test ! -e bad.txt && echo passed`;
  await commitFiles(repository, { '.pawl/config.yaml': configWith(run, `queue: {${rules}}\nfixer: false\n`) });
  const origin = join(repository, '..', 'origin.git');
  if (remote) {
    await git(repository, ['clone', '--quiet', '--bare', repository, origin]);
    await git(repository, ['remote', 'add', 'origin', origin]);
    await git(repository, ['fetch', '--quiet', 'origin']);
  }
  const refs = async () => {
    const main = await git(repository, ['rev-parse', 'main']);
    return remote ? `${main}\n${await git(origin, ['for-each-ref'])}` : main;
  };
  return Object.assign(daemon, { refs, runs: () => runsIn(runs), origin });
}

async function changeOf({ client, repository }: TestDaemon): Promise<string> {
  return waitUntil(async () => (await client.listChanges({ path: repository })).changes[0]?.id, {
    what: 'a change',
  });
}

const work = [{ write: { path: 'new.txt', content: 'new\n' } }, { commit: 'feat: new' }, 'complete'];

test('with a remote nothing is pushed and main stays, until a person merges the change', async () => {
  await using place = await start('auto: false', { remote: true });
  const { client } = place;
  const before = await place.refs();
  await place.ended((await place.work(work)).id);
  const id = await changeOf(place);
  const ready = await reaches(client, id, 'ready');
  expect(ready).toMatchObject({
    detail: `passes its checks; \`pawl change merge ${id.slice(0, 8)}\``,
    needsPerson: true,
  });
  const inbox = await client.inbox();
  expect(inbox.changes).toMatchObject([{ id, state: 'ready' }]);
  const next = [`pawl change merge ${id.slice(0, 8)}`, `pawl change diff ${id.slice(0, 8)}`];
  expect(inbox.entries).toMatchObject([{ kind: 'ready', changes: [id], detail: 'passes its checks', next }]);
  expect((await queueNow(client)).changes).toMatchObject([{ id, state: 'ready' }]);
  expect(await place.refs()).toBe(before);
  const checked = place.runs();
  const { note } = await client.mergeChange(id);
  expect(note).toBe(`merges into main when its checks pass, and pushes main to origin (${place.origin})`);
  const { mergedCommit } = await reaches(client, id, 'merged');
  expect(await git(place.origin, ['rev-parse', 'main'])).toBe(mergedCommit);
  // Its result is known, since main has not moved.
  expect(place.runs()).toBe(checked);
  expect(await client.inbox()).toMatchObject({ changes: [], entries: [] });
});

test('work describes what will happen, by the current configuration', async () => {
  await using place = await start('auto: true', { remote: true });
  const { client, repository } = place;
  const scenario = await place.scenario(['complete']);
  const outcome = async (more: object = {}) => {
    const body = { path: repository, task: 'a task', provider: 'scripted', options: { scenario }, ...more };
    return (await client.work(body, randomUUID())).whenDone;
  };
  expect(await outcome()).toMatchObject({ outcome: 'checked', text: expect.stringContaining('pawl queue allow-push') });
  await client.allowPush({ path: repository });
  const pushed = { outcome: 'merged-and-pushed', text: expect.stringContaining(`origin (${place.origin})`) };
  expect(await outcome()).toMatchObject(pushed);
  // An errand goes into the checkout, by `pawl errand merge`.
  expect(await outcome({ mode: 'errand' })).toBeNull();
});

test('with auto and a remote the first push needs permission, once for the project', async () => {
  await using place = await start('auto: true', { remote: true });
  const { client, repository } = place;
  const before = await place.refs();
  const first = await propose(client, repository, 'work/one', { 'one.txt': 'one\n' });
  const { detail } = await reaches(client, first.id, 'ready');
  expect(detail).toBe(
    `passes its checks; pushing to origin/main must be allowed once: \`pawl queue allow-push\`, or merge this one: \`pawl change merge ${first.id.slice(0, 8)}\``,
  );
  expect((await queueNow(client)).advice).toEqual([
    'pushing to origin/main must be allowed once: `pawl queue allow-push`',
  ]);
  expect(await place.refs()).toBe(before);
  const { queue } = await client.allowPush({ path: repository });
  expect(queue).toMatchObject({ advice: [], pushAllowedAt: expect.any(Number) });
  await reaches(client, first.id, 'merged');
  const second = await propose(client, repository, 'work/two', { 'two.txt': 'two\n' });
  await reaches(client, second.id, 'merged');
  await client.forbidPush({ path: repository });
  const third = await propose(client, repository, 'work/three', { 'three.txt': 'three\n' });
  await reaches(client, third.id, 'ready');
  await client.mergeChange(third.id);
  await reaches(client, third.id, 'merged');
});

test('an uncommitted configuration merges nothing, and merge lists the commands that commit it', async () => {
  await using daemon = await startTestDaemon();
  const { client, repository } = daemon;
  const main = await git(repository, ['rev-parse', 'main']);
  mkdirSync(join(repository, '.pawl'));
  const config = configWith('echo passed', 'queue: {auto: true}\nfixer: false\n');
  writeFileSync(join(repository, '.pawl', 'config.yaml'), config);
  const { id } = await propose(client, repository, 'work/one', { 'one.txt': 'one\n' });
  const { detail } = await reaches(client, id, 'ready');
  const commands =
    '`.pawl/config.yaml` is not committed on main: `git add .pawl/config.yaml`, `git commit -m "chore: add the checks" .pawl/config.yaml`';
  expect(detail).toBe(`passes its checks; nothing is merged: ${commands}`);
  expect((await queueNow(client)).advice).toEqual([`nothing is merged: ${commands}`]);
  expect((await client.inbox()).changes).toMatchObject([{ id, detail }]);
  await expect(client.mergeChange(id)).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining(commands),
  });
  expect((await changeNow(client, id)).askedHead).toBeNull();
  expect(await git(repository, ['rev-parse', 'main'])).toBe(main);
  await commitFiles(repository, { '.pawl/config.yaml': config });
  await client.checkQueue({ path: repository });
  await reaches(client, id, 'merged');
});

test('an agent’s request to merge has its change checked, and only a person’s merges it', async () => {
  await using place = await start('auto: false');
  const { client } = place;
  const before = await place.refs();
  const agent = await place.work(work);
  await place.ended(agent.id);
  const id = await changeOf(place);
  const { note, change } = await agentClient(place.home, agent.id).mergeChange(id);
  expect(note).toBe('it is checked; a person merges it: `pawl change merge`');
  expect(change.askedHead).toBeNull();
  await reaches(client, id, 'ready');
  expect(await place.refs()).toBe(before);
  await client.mergeChange(id);
  await reaches(client, id, 'merged');
});

test('a failing change is returned to its author even if its merge was not requested', async () => {
  await using place = await start('auto: false');
  const { client, repository } = place;
  const { id } = await propose(client, repository, 'work/bad', { 'bad.txt': 'x\n' });
  expect(await reaches(client, id, 'ejected')).toMatchObject({ ejection: { kind: 'red' } });
});

test('a person’s request is for one head: a change that moves is ready, and not merged', async () => {
  await using place = await start('auto: false');
  const { client, repository } = place;
  await client.pauseQueue({ path: repository });
  const { id } = await propose(client, repository, 'work/one', { 'one.txt': 'one\n' });
  await client.mergeChange(id);
  await commitOn(repository, 'work/one', { 'more.txt': 'more\n' }, 'work/one');
  await client.openChange({ path: repository, branch: 'work/one' });
  const before = await place.refs();
  await client.resumeQueue({ path: repository });
  await reaches(client, id, 'ready');
  expect(await place.refs()).toBe(before);
});

test('a batch contains only requested changes, and the others stay ready on the new main', async () => {
  await using place = await start('auto: false');
  const { client, repository } = place;
  const ids: string[] = [];
  for (const name of ['one', 'two', 'three']) {
    ids.push((await propose(client, repository, `work/${name}`, { [`${name}.txt`]: `${name}\n` })).id);
  }
  const conflicting = await propose(client, repository, 'work/other', { 'two.txt': 'another\n' });
  for (const id of [...ids, conflicting.id]) await reaches(client, id, 'ready');
  const [one = '', two = '', three = ''] = ids;
  await client.mergeChange(two);
  await client.mergeChange(three);
  await reaches(client, two, 'merged');
  await reaches(client, three, 'merged');
  const files = await git(repository, ['ls-tree', '--name-only', 'main']);
  expect(files).toContain('two.txt');
  expect(files).toContain('three.txt');
  expect(files).not.toContain('one.txt');
  expect((await changeNow(client, one)).state).toBe('ready');
  expect(await reaches(client, conflicting.id, 'ejected')).toMatchObject({ ejection: { kind: 'conflict' } });
});

test('a draft is not checked until its merge is requested', async () => {
  await using place = await start('auto: false');
  const { client, repository } = place;
  await commitOn(repository, 'work/one', { 'one.txt': 'one\n' });
  const { change } = await client.openChange({ path: repository, branch: 'work/one', draft: true });
  expect(change).toMatchObject({ state: 'open', detail: 'it is a draft', needsPerson: false });
  await client.mergeChange(change.id);
  await reaches(client, change.id, 'merged');
});
