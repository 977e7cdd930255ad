import { fixChange } from '@pawl/daemon/changes/repair/change-fix';
import type { CrashPoint } from '@pawl/schema/crash-point';
import { changeById } from '@pawl/store/changes/changes';
import { sampleOf } from '@pawl/testing/endurance';
import { git } from '@pawl/testing/sample-repository';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { BranchHome } from '../../support/branch-home.ts';
import { openBranchHome } from '../../support/branch-home.ts';
import { commitFiles } from '../../support/merge-queue.ts';

/** Fixes in a process of its own, and waits until that has killed itself at a point. */
async function dieAt(point: CrashPoint, ...words: string[]): Promise<void> {
  const program = join(import.meta.dirname, '..', '..', 'support', 'fix-process.ts');
  const env = { ...process.env, PAWL_CRASH_AT: point };
  const child = spawn(process.execPath, [program, ...words], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  const [, signal] = await once(child, 'exit');
  expect(signal).toBe('SIGKILL');
}

/** An idle agent whose change conflicts with main in b.txt. */
async function prepare(place: string) {
  await using platform = await openBranchHome(place);
  const agent = await platform.agent('calm-fox');
  const head = await commitFiles(agent.worktree ?? '', { 'b.txt': 'fox\n' });
  const change = await platform.change({
    branch: agent.branch ?? '',
    head,
    base: agent.baseCommit ?? '',
    agentId: agent.id,
  });
  await platform.main({ 'b.txt': 'main\n', 'c.txt': 'main\n' });
  return { agent, change, path: agent.worktree ?? '' };
}

const fix = (platform: BranchHome, changeId: string, proceed = false) =>
  fixChange(platform.platform, { inLane: (_, act) => act() }, { changeId, proceed });

test.each(sampleOf<CrashPoint>(['fix.after_intent', 'fix.after_files', 'fix.after_index'], 1))(
  'a merge whose daemon is killed at %s is continued by the next pawl change fix',
  async (point) => {
    await using place = await temporaryDirectory();
    const { change, path } = await prepare(place.path);
    await dieAt(point, place.path, change.id);
    await using platform = await openBranchHome(place.path);
    expect(await fix(platform, change.id)).toMatchObject({ outcome: 'begun', path, files: ['b.txt'] });
    expect((await git(path, ['status', '--porcelain'])).split('\n').toSorted()).toEqual(['M  c.txt', 'UU b.txt']);
    expect(await fix(platform, change.id)).toMatchObject({ outcome: 'already', files: ['b.txt'] });
  },
);

test('a resolved merge whose daemon is killed at fix.after_commit is proposed once by the next --continue', async () => {
  await using place = await temporaryDirectory();
  const { agent, change, path } = await prepare(place.path);
  {
    await using platform = await openBranchHome(place.path);
    await fix(platform, change.id);
  }
  writeFileSync(join(path, 'b.txt'), 'both\n');
  await git(path, ['add', 'b.txt']);
  await dieAt('fix.after_commit', place.path, change.id, '--continue');
  await using platform = await openBranchHome(place.path);
  const tip = await platform.tip(agent);
  expect(await fix(platform, change.id, true)).toMatchObject({ outcome: 'proposed', path });
  expect(await platform.tip(agent)).toBe(tip);
  expect(await git(path, ['status', '--porcelain'])).toBe('');
  expect(await changeById(platform.store.db, change.id)).toMatchObject({ head: tip, agentId: agent.id });
  expect(await platform.events('change.moved')).toHaveLength(1);
});
