import { createRefresh } from '@pawl/daemon/queue/refresh';
import { refreshIntents, refreshRefusals } from '@pawl/daemon/queue/refresh-intent';
import { finishRefreshes } from '@pawl/daemon/queue/refresh-worktree';
import type { CrashPoint } from '@pawl/schema/crash-point';
import { agentById } from '@pawl/store/agents/agents';
import { sampleOf } from '@pawl/testing/endurance';
import { git } from '@pawl/testing/sample-repository';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openBranchHome } from '../support/branch-home.ts';
import { commitFiles } from '../support/merge-queue.ts';

const points: CrashPoint[] = [
  'refresh.after_intent',
  'refresh.after_ref',
  'refresh.after_files',
  'refresh.after_record',
];

/** Refreshes in a process of its own, and waits until that has killed itself at a point. */
async function dieAt(point: CrashPoint, place: string): Promise<void> {
  const program = join(import.meta.dirname, '..', 'support', 'refresh-process.ts');
  const env = { ...process.env, PAWL_CRASH_AT: point };
  const child = spawn(process.execPath, [program, place], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  const [, signal] = await once(child, 'exit');
  expect(signal).toBe('SIGKILL');
}

test.each(sampleOf(points, 2))(
  'a worktree whose daemon is killed at %s is where it was, or has moved completely [W4-15]',
  async (point) => {
    await using place = await temporaryDirectory();
    const { agent, main, before } = await prepare(place.path);
    const path = agent.worktree ?? '';
    await dieAt(point, place.path);
    await using platform = await openBranchHome(place.path);
    await finishRefreshes(platform.platform);
    const isMoved = point !== 'refresh.after_intent';
    const tip = await platform.tip(agent);
    expect(tip === before).toBe(!isMoved);
    expect(await git(platform.root, ['rev-parse', `${tip}^`])).toBe(isMoved ? main : agent.baseCommit);
    expect(readFileSync(join(path, 'b.txt'), 'utf8')).toBe(isMoved ? 'main\n' : 'b\n');
    const status = ['?? notes.txt', 'M  c.txt'];
    expect((await platform.status(agent)).split('\n').sort()).toEqual(status);
    expect((await agentById(platform.store.db, agent.id))?.baseCommit).toBe(isMoved ? main : agent.baseCommit);
    expect(await refreshIntents.all(platform.store.db)).toEqual([]);
    expect(await refreshRefusals.all(platform.store.db)).toEqual([]);
    // The next pass completes the rest, and nothing twice.
    await finishRefreshes(platform.platform);
    await createRefresh(platform.platform, { reconciler: { inLane: (_, act) => act() } }).tick();
    expect((await platform.status(agent)).split('\n').sort()).toEqual(status);
    expect(await git(platform.root, ['rev-parse', `${agent.branch}^`])).toBe(main);
    expect(await platform.events('worktree.refreshed')).toHaveLength(1);
    expect(await platform.mailTo(agent)).toHaveLength(1);
  },
);

/** An agent with a commit, a staged edit and an untracked file, and a main that has moved on. */
async function prepare(place: string) {
  await using platform = await openBranchHome(place);
  const agent = await platform.agent('calm-fox');
  const path = agent.worktree ?? '';
  const before = await commitFiles(path, { 'fox.txt': 'fox\n' });
  writeFileSync(join(path, 'notes.txt'), 'not committed\n');
  writeFileSync(join(path, 'c.txt'), 'staged\n');
  await git(path, ['add', 'c.txt']);
  return { agent, before, main: await platform.main({ 'b.txt': 'main\n' }) };
}
