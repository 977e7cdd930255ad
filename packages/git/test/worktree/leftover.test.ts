import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, readlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitUntil } from '@pawl/testing/wait-until';
import { expect, onTestFinished, test } from 'vitest';
import { removeAbandonedLock, waitForEarlierGit } from '../../src/worktree/leftover.ts';
import { openRepository, resolveCommit } from '../../src/repository/repository.ts';
import { addWorktree } from '../../src/worktree/worktree.ts';
import { makeRepository, temporaryDirectory } from '../fixture.ts';

/** True when something goes on while all processes are looked at several times for something that is not there. */
async function outlastsLooks(work: Promise<void>, home: string): Promise<boolean> {
  let isOver = false;
  void work.then(() => (isOver = true));
  for (let look = 0; look < 3; look += 1) await waitForEarlierGit(join(home, 'nothing'));
  return !isOver;
}

test.runIf(process.platform === 'linux')('waits for a git that still works on exactly this path', async () => {
  const home = temporaryDirectory();
  const root = makeRepository(join(home, 'project'));
  const path = join(home, 'tree');
  // This command reads its standard input, so it lives until that is closed.
  const earlier = spawn('git', [`--git-dir=${root}/.git`, `--work-tree=${path}`, 'cat-file', '--batch-check'], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  onTestFinished(() => void earlier.kill('SIGKILL'));
  earlier.stdin.write('HEAD\n');
  await once(earlier.stdout, 'data');
  await waitForEarlierGit(join(home, 'another'));
  await waitForEarlierGit(`${path}-2`);
  const waiting = waitForEarlierGit(path);
  expect(await outlastsLooks(waiting, home)).toBe(true);
  earlier.stdin.end();
  await once(earlier, 'exit');
  await waiting;
});

test.runIf(process.platform === 'linux')(
  'waits for a child of a killed daemon that has not become git yet',
  async () => {
    const home = temporaryDirectory();
    // A program of one thread whose parent is another program, as such a child is.
    const daemon = join(home, 'daemon');
    copyFileSync('/bin/sleep', daemon);
    const child = spawn(daemon, ['600'], { stdio: 'ignore' });
    onTestFinished(() => void child.kill('SIGKILL'));
    await waitUntil(() => readlinkSync(`/proc/${child.pid}/exe`) === daemon, { what: 'the child' });
    await waitForEarlierGit(join(home, 'tree'));
    const waiting = waitForEarlierGit(join(home, 'tree'), daemon);
    expect(await outlastsLooks(waiting, home)).toBe(true);
    child.kill('SIGKILL');
    await waiting;
  },
);

test('removes a lock without a holder, and accepts a missing one', async () => {
  const directory = temporaryDirectory();
  const lock = join(directory, 'index.lock');
  await removeAbandonedLock(directory);
  writeFileSync(lock, '');
  utimesSync(lock, 1, 1);
  await removeAbandonedLock(directory);
  expect(existsSync(lock)).toBe(false);
});

test('a stale lock on our branch does not block the worktree', async () => {
  const home = temporaryDirectory();
  const root = makeRepository(join(home, 'project'));
  const repository = await openRepository(root);
  mkdirSync(join(root, '.git', 'refs', 'heads', 'work'), { recursive: true });
  const lock = join(root, '.git', 'refs', 'heads', 'work', 'otter.lock');
  writeFileSync(lock, '');
  const base = await resolveCommit(repository);
  const request = { ownDir: join(home, 'own.git'), path: join(home, 'tree'), branch: 'work/otter', base };
  expect(await addWorktree(repository, request)).toMatchObject({ branch: 'work/otter' });
  expect(existsSync(lock)).toBe(false);
});
