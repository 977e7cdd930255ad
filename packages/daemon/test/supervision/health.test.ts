import { strayProcesses } from '@pawl/host/session/stray';
import { limits } from '@pawl/schema/limit';
import { waitUntil } from '@pawl/testing/wait-until';
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, lutimesSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon, viewOf } from '../support/daemon.ts';
import { allEvents } from '../support/mail.ts';
import { outputHas } from '../support/output.ts';

let now = Date.now();
let daemon: TestDaemon;
let root = '';
beforeAll(async () => {
  // Only health checks if processes are alive.
  daemon = await startTestDaemon({ clock: () => now, timing: { livenessMs: 600_000 } });
  const first = await daemon.work(['complete']);
  // Its end would be news to others, at any time.
  await daemon.ended(first.id);
  root = join(daemon.home.worktrees, first.project?.name ?? '');
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

function git(...words: string[]): void {
  execFileSync('git', ['-C', daemon.repository, ...words], { stdio: 'ignore' });
}

/** Makes everything at a path look untouched for two days. */
function age(path: string): void {
  const then = (now - 2 * limits.leftoverMs) / 1000;
  if (existsSync(join(path, '.git'))) for (const name of readdirSync(path)) lutimesSync(join(path, name), then, then);
  lutimesSync(path, then, then);
}

/** A worktree that git knows and no registered agent has. */
function orphan(name: string, { where = root, isOld = true, dirty = false } = {}): string {
  const path = join(where, name);
  git('worktree', 'add', '-b', `work/${name}`, path);
  if (dirty) writeFileSync(join(path, 'unsaved.txt'), 'work');
  if (isOld) age(path);
  return path;
}

/** Runs the search for orphaned data, which does not happen every minute. */
async function lookForLeftovers(): Promise<void> {
  now += limits.leftoverLookMs;
  await daemon.loops.health();
}

test('only data that is ours, old, clean, unused and known to git goes to the trash [S4-24, S4-31, 6.2.12, 8.10]', async () => {
  const gone = orphan('forsaken');
  const foreign = join(root, 'no-worktree');
  mkdirSync(foreign);
  writeFileSync(join(foreign, 'notes.txt'), 'mine');
  age(foreign);
  const kept = [
    orphan('fresh', { isOld: false }),
    orphan('edited', { dirty: true }),
    orphan('elsewhere', { where: join(daemon.home.root, '..') }),
    foreign,
  ];
  const inUse = orphan('in-use');
  const living = await daemon.work([{ say: 'here' }, 'hang']);
  await outputHas(daemon.client, living.id, 'here');
  age(living.worktree ?? '');
  symlinkSync(daemon.repository, join(root, 'link'));
  const sleeper = execFileSync('sh', ['-c', 'sleep 60 >/dev/null 2>&1 & echo $!'], { cwd: inUse, encoding: 'utf8' });
  try {
    await lookForLeftovers();
    expect(existsSync(gone)).toBe(false);
    for (const path of [...kept, inUse, living.worktree ?? '', daemon.repository, join(root, 'link')])
      expect(existsSync(path), path).toBe(true);
    // Those of finished agents do not count.
    const trashed = (await allEvents(daemon.client)).filter(
      ({ type, agentId }) => type === 'worktree.trashed' && agentId === null,
    );
    expect(trashed.map(({ data }) => data['path'])).toEqual([gone]);
    git('rev-parse', '--verify', 'work/forsaken');
  } finally {
    process.kill(Number(sleeper));
    await daemon.client.stopAgent(living.id);
  }
});

test('bodies of long mails that were never sent are removed after a day; all others stay', async () => {
  const agent = await daemon.work([{ say: 'hello' }, 'hang']);
  await outputHas(daemon.client, agent.id, 'hello');
  await daemon.client.sendMail({ to: agent.id, body: 'long '.repeat(2_000) }, randomUUID());
  const wanted = readdirSync(daemon.home.mail);
  expect(wanted).toHaveLength(1);
  const unsent = ['a'.repeat(22), 'b'.repeat(22)];
  const names = [`${unsent[0]}.txt`, `${unsent[1]}.txt.new`];
  const others = ['notes.txt', `${'c'.repeat(22)}.txt`];
  for (const name of [...names, ...others]) writeFileSync(join(daemon.home.mail, name), 'text');
  for (const name of [...names, 'notes.txt', ...wanted]) age(join(daemon.home.mail, name));
  await lookForLeftovers();
  expect(readdirSync(daemon.home.mail).toSorted()).toEqual([...others, ...wanted].toSorted());
  await daemon.client.stopAgent(agent.id);
});

test('a request is remembered for a day, and no longer, even without a restart', async () => {
  const agent = await daemon.rested();
  await daemon.client.stopAgent(agent.id);
  const key = randomUUID();
  const send = async () => (await daemon.client.sendMail({ to: agent.id, body: 'hello' }, key)).mails[0]?.id;
  const first = await send();
  await lookForLeftovers();
  expect(await send()).toBe(first);
  now += limits.memoryMs;
  await lookForLeftovers();
  expect(await send()).not.toBe(first);
});

test('the mailbox directory of a dead agent is removed by the next check, and that of the living stays [S4-23, S4-24]', async () => {
  const [dying, living] = [await daemon.rested(), await daemon.rested()];
  const mailboxOf = (alias: string) => join(daemon.home.messages, basename(root), alias);
  for (const { id } of [dying, living]) await daemon.client.sendMail({ to: id, body: 'hello' }, randomUUID());
  const both = [dying, living].map(({ alias }) => mailboxOf(alias));
  await waitUntil(() => both.every((path) => existsSync(path)), { what: 'both mailboxes' });
  await daemon.client.killAgent(dying.id, {});
  await waitUntil(
    async () => {
      await daemon.loops.health();
      return !existsSync(mailboxOf(dying.alias));
    },
    { what: 'the mailbox of the dead to go' },
  );
  expect(existsSync(mailboxOf(living.alias))).toBe(true);
});

test('a nudge wakes an idle caretaker, with the text of its definition, once there is news [6.2.3]', async () => {
  // The agents of other tests would be news.
  await using daemon = await startTestDaemon({ clock: () => now, timing: { livenessMs: 600_000 } });
  const nudge = 'Status check: is the kettle on?';
  daemon.define('keeper', { kind: 'main', class: 'persistent', tools: ['*'], nudge });
  const steps = [{ say: 'here' }, 'complete', 'echo_prompt', 'complete', 'complete'];
  const keeper = await daemon.work(steps, { definition: 'keeper' });
  await daemon.ended(keeper.id);
  await daemon.loops.nudges();
  const sent = async () => (await allEvents(daemon.client)).filter(({ type }) => type === 'nudge.sent');
  expect(await sent(), 'all is quiet').toEqual([]);
  await daemon.client.addTask({ path: daemon.repository, name: 'boil water', phase: 'tea' });
  await daemon.loops.nudges();
  expect(await sent()).toHaveLength(1);
  await outputHas(daemon.client, keeper.id, 'is the kettle on?');
  await daemon.ended(keeper.id);
  now += 10 * limits.nudgeGapMs;
  await daemon.loops.nudges();
  await daemon.loops.nudges();
  expect(await sent(), 'and all is quiet again').toHaveLength(1);
  const { runs, sessions } = await daemon.client.inspectAgent(keeper.id);
  expect([runs.length, sessions.length]).toEqual([2, 2]);
});

test('a dead session is found by the next check, even without an event [S4-24, W4-07]', async () => {
  const agent = await daemon.work([{ say: 'here' }, 'hang']);
  await outputHas(daemon.client, agent.id, 'here');
  const session = (await daemon.client.inspectAgent(agent.id)).sessions[0];
  // Kill the shim first, so that it cannot record the end of its child.
  const pids = [session?.pid ?? 0, ...strayProcesses(session?.id ?? '').map(({ pid }) => pid)];
  for (const pid of pids) process.kill(pid, 'SIGKILL');
  await waitUntil(() => strayProcesses(session?.id ?? '').length === 0, { what: 'its processes to be gone' });
  expect((await viewOf(daemon.client, agent.id)).run?.status).toBe('running');
  await daemon.loops.health();
  expect((await daemon.ended(agent.id)).run?.status).toBe('failed');
});
