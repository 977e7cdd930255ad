import { createRefresh } from '@pawl/daemon/queue/refresh';
import { refreshIntents, refreshRefusals } from '@pawl/daemon/queue/refresh-intent';
import { finishRefreshes } from '@pawl/daemon/queue/refresh-worktree';
import type { Agent } from '@pawl/schema/record';
import { agentById, updateAgent } from '@pawl/store/agents/agents';
import { updateQueue } from '@pawl/store/changes/queues';
import { sleepers } from '@pawl/testing/sleeper';
import { git } from '@pawl/testing/sample-repository';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openBranchHome } from '../support/branch-home.ts';
import { commitFiles, commitOn } from '../support/merge-queue.ts';

async function start() {
  const place = await temporaryDirectory();
  const platform = await openBranchHome(place.path);
  const lanes: string[] = [];
  const refresh = createRefresh(platform.platform, {
    reconciler: {
      inLane(agentId, act) {
        lanes.push(agentId);
        return act();
      },
    },
  });
  return Object.assign(platform, {
    lanes,
    tick: refresh.tick,
    now: async ({ id }: Agent) => agentById(platform.store.db, id),
    async [Symbol.asyncDispose]() {
      await refresh.close();
      await platform.store.close();
      await place[Symbol.asyncDispose]();
    },
  });
}

test('an idle worktree is updated to main with its work, and its agent is told without being woken [W4-15]', async () => {
  await using platform = await start();
  const fox = await platform.agent('calm-fox');
  await commitFiles(fox.worktree ?? '', { 'fox.txt': 'fox\n' });
  writeFileSync(join(fox.worktree ?? '', 'notes.txt'), 'not committed\n');
  const from = await platform.tip(fox);
  const main = await platform.main({ 'b.txt': 'main\n' });
  await platform.tick();
  const to = await platform.tip(fox);
  expect(await git(platform.root, ['rev-parse', `${to}^`])).toBe(main);
  expect(await platform.status(fox)).toBe('?? notes.txt');
  expect(readFileSync(join(fox.worktree ?? '', 'b.txt'), 'utf8')).toBe('main\n');
  expect((await platform.now(fox))?.baseCommit).toBe(main);
  expect(await platform.events('worktree.refreshed')).toMatchObject([
    { agentId: fox.id, projectId: platform.project.id, data: { path: fox.worktree, from, to } },
  ]);
  // Mail of this kind starts no turn.
  expect(await platform.mailTo(fox)).toEqual([
    expect.stringMatching(/^system: main has moved, and your branch work\/calm-fox/),
  ]);
  expect(await refreshIntents.all(platform.store.db)).toEqual([]);
  expect(await refreshRefusals.all(platform.store.db)).toEqual([]);
  expect(platform.lanes).toEqual([fox.id]);
  // Neither has moved since, so it is skipped.
  await platform.tick();
  await platform.tick();
  expect(platform.lanes).toEqual([fox.id, fox.id]);
  expect(await platform.mailTo(fox)).toHaveLength(1);
});

test('a branch that conflicts with main stays, and its agent is told once in which files [W4-15]', async () => {
  await using platform = await start();
  const fox = await platform.agent('calm-fox');
  const tip = await commitFiles(fox.worktree ?? '', { 'b.txt': 'fox\n' });
  await platform.main({ 'b.txt': 'main\n' });
  await platform.tick();
  await platform.main({ 'c.txt': 'main\n' });
  await platform.tick();
  expect(await platform.tip(fox)).toBe(tip);
  expect(await platform.status(fox)).toBe('');
  const mails = await platform.mailTo(fox);
  expect(mails).toEqual([expect.stringMatching(/could not be brought up to it. They conflict in:\n- b.txt\n/)]);
  expect(await platform.events('worktree.refreshed')).toEqual([]);
});

test('a file in the way keeps a worktree in place; it is reported once, and the worktree follows when the way is free [W4-15]', async () => {
  await using platform = await start();
  const fox = await platform.agent('calm-fox');
  const path = join(fox.worktree ?? '', 'b.txt');
  writeFileSync(path, 'not committed\n');
  await platform.main({ 'b.txt': 'main\n' });
  await platform.tick();
  await platform.tick();
  expect(readFileSync(path, 'utf8')).toBe('not committed\n');
  expect(await platform.tip(fox)).toBe(fox.baseCommit);
  expect(await platform.mailTo(fox)).toEqual([expect.stringContaining('in the way')]);
  writeFileSync(path, 'b\n');
  await platform.tick();
  expect(readFileSync(path, 'utf8')).toBe('main\n');
  expect(await platform.mailTo(fox)).toHaveLength(2);
  expect(await refreshIntents.all(platform.store.db)).toEqual([]);
  expect(await refreshRefusals.all(platform.store.db)).toEqual([]);
});

test('a worktree is not moved if its agent is dead, on an errand or in the queue, or a process works in it [W4-15]', async () => {
  await using platform = await start();
  const [elk, owl, newt, yak] = [
    await platform.agent('shy-elk', { endedAt: 1, endReason: 'killed' }),
    await platform.agent('old-owl', { mode: 'errand' }),
    await platform.agent('new-newt'),
    await platform.agent('big-yak'),
  ];
  await platform.change({ branch: newt.branch ?? '', head: newt.baseCommit ?? '', agentId: newt.id, queuedAt: 1 });
  await platform.main({ 'b.txt': 'main\n' });
  await using others = sleepers(join(platform.place, 'bin'));
  others.startCommand(['sleep', '60'], yak.worktree ?? '');
  await platform.tick();
  for (const agent of [elk, owl, newt, yak]) expect(await platform.tip(agent)).toBe(agent.baseCommit);
  expect(await platform.events('worktree.refreshed')).toEqual([]);
  expect(await platform.events('mail.sent')).toEqual([]);
});

test('a worktree is never moved to a red main, nor beyond the last green one', async () => {
  await using platform = await start();
  const fox = await platform.agent('calm-fox');
  const green = await platform.main({ 'b.txt': 'green\n' });
  const red = await platform.main({ 'b.txt': 'red\n' });
  const emergency = { commit: red, checkId: 'c'.repeat(22), since: 1, fixerId: null, trouble: null };
  await platform.store.write((tx) => updateQueue(tx, platform.project.id, { green, emergency }));
  await platform.tick();
  expect(await platform.tip(fox)).toBe(fox.baseCommit);
  await platform.store.write((tx) => updateQueue(tx, platform.project.id, { emergency: null }));
  await platform.tick();
  expect(await platform.tip(fox)).toBe(green);
});

test('an agent whose change was squashed into main starts again from there', async () => {
  await using platform = await start();
  const fox = await platform.agent('calm-fox');
  await commitFiles(fox.worktree ?? '', { 'b.txt': 'first\n' });
  const head = await commitFiles(fox.worktree ?? '', { 'b.txt': 'second\n' });
  await platform.change({ branch: fox.branch ?? '', head, agentId: fox.id, mergedAt: 2, mergedCommit: 'x' });
  await commitFiles(fox.worktree ?? '', { 'more.txt': 'more\n' });
  const main = await platform.main({ 'b.txt': 'second\n' });
  await platform.tick();
  expect(await git(platform.root, ['rev-parse', `${fox.branch}^`])).toBe(main);
  expect(await platform.status(fox)).toBe('');
});

test('a branch whose change was squash-merged is not refreshed, and its agent gets no mail, however often main moves', async () => {
  await using platform = await start();
  const fox = await platform.agent('calm-fox');
  await commitFiles(fox.worktree ?? '', { 'b.txt': 'first\n' });
  const head = await commitFiles(fox.worktree ?? '', { 'b.txt': 'second\n' });
  await platform.change({ branch: fox.branch ?? '', head, agentId: fox.id, mergedAt: 2, mergedCommit: 'x' });
  await platform.main({ 'b.txt': 'second\n' });
  await platform.tick();
  for (const text of ['1\n', '2\n', '3\n']) {
    await platform.main({ 'c.txt': text });
    await platform.tick();
  }
  expect(await platform.tip(fox)).toBe(head);
  expect((await platform.now(fox))?.baseCommit).toBe(fox.baseCommit);
  expect(await platform.events('worktree.refreshed')).toEqual([]);
  expect(await platform.events('mail.sent')).toEqual([]);
});

test('a branch that was merged from the branch of a stand-in, or with its own commits, is not refreshed either', async () => {
  await using platform = await start();
  const fox = await platform.agent('calm-fox');
  const owl = await platform.agent('old-owl');
  await commitFiles(fox.worktree ?? '', { 'b.txt': 'fox\n' });
  await git(platform.root, ['branch', 'work/stand-in', fox.branch ?? '']);
  const resolved = await commitOn(platform.root, 'work/stand-in', { 'c.txt': 'resolved\n' }, 'work/stand-in');
  await platform.change({ branch: 'work/stand-in', head: resolved, agentId: fox.id, mergedAt: 2, mergedCommit: 'x' });
  const head = await commitFiles(owl.worktree ?? '', { 'owl.txt': 'owl\n' });
  await platform.change({ branch: owl.branch ?? '', head, agentId: owl.id, mergedAt: 2, mergedCommit: 'x' });
  const before = await platform.tip(fox);
  await git(platform.root, ['merge', '--quiet', '--ff-only', owl.branch ?? '']);
  await platform.main({ 'b.txt': 'fox\n', 'c.txt': 'resolved\n' });
  await platform.tick();
  expect([await platform.tip(fox), await platform.tip(owl)]).toEqual([before, head]);
  expect(await platform.events('worktree.refreshed')).toEqual([]);
  expect(await platform.events('mail.sent')).toEqual([]);
});

test('an idle agent whose branch moves several times finds one notice', async () => {
  await using platform = await start();
  const fox = await platform.agent('calm-fox');
  await commitFiles(fox.worktree ?? '', { 'fox.txt': 'fox\n' });
  for (const text of ['1\n', '2\n', '3\n']) {
    await platform.main({ 'c.txt': text });
    await platform.tick();
  }
  expect(await platform.events('worktree.refreshed')).toHaveLength(3);
  expect(await platform.mailTo(fox)).toHaveLength(1);
  // Once it has been read, the next move gets another.
  await platform.store.write((tx) => tx.db.updateTable('mail').set({ delivered_at: 9 }).execute());
  await platform.main({ 'c.txt': '4\n' });
  await platform.tick();
  expect(await platform.events('mail.sent')).toHaveLength(2);
});

test('a no-op move of an older release ends without an event or mail', async () => {
  await using platform = await start();
  const fox = await platform.agent('calm-fox');
  const tip = await commitFiles(fox.worktree ?? '', { 'fox.txt': 'fox\n' });
  const about = { branch: fox.branch ?? '', target: 'main', onto: fox.baseCommit ?? '' };
  await platform.store.write((tx) => refreshIntents.set(tx, { agentId: fox.id, ...about, from: tip, to: tip }));
  await finishRefreshes(platform.platform);
  expect(await refreshIntents.all(platform.store.db)).toEqual([]);
  expect(await refreshRefusals.all(platform.store.db)).toEqual([]);
  expect(await platform.events('worktree.refreshed')).toEqual([]);
  expect(await platform.events('mail.sent')).toEqual([]);
});

test('an unreadable agent does not block the others', async () => {
  await using platform = await start();
  const fox = await platform.agent('calm-fox');
  const owl = await platform.agent('old-owl');
  await platform.main({ 'b.txt': 'main\n' });
  await platform.store.write((tx) => updateAgent(tx, owl.id, { baseCommit: 'd'.repeat(40) }));
  await platform.tick();
  expect(await platform.tip(fox)).not.toBe(fox.baseCommit);
  expect(await platform.tip(owl)).toBe(owl.baseCommit);
});
