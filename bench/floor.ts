import { git } from '@pawl/testing/sample-repository';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { commandMs, programPaths } from './program.ts';

/** The floor for a program of ours: Node starts and does nothing. */
export function nodeStartMs(): Promise<number> {
  return commandMs(process.execPath, ['-e', '0']);
}

/** The floor for a spawn: git creates the worktree, then the agent's command runs to its first line. */
export async function plainSpawnMs(repository: string, worktree: string, branch: string): Promise<number> {
  const start = performance.now();
  await git(repository, ['worktree', 'add', '--quiet', '--no-track', '-b', branch, worktree, 'HEAD']);
  const words = ['-p', '--input-format', 'stream-json', '--output-format', 'stream-json'];
  const state = { PAWL_SCRIPTED_STATE: join(worktree, '.git-state') };
  const child = spawn(process.execPath, [programPaths.scriptedAgent, ...words], {
    cwd: worktree,
    env: { ...process.env, ...state },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const exited = once(child, 'exit');
  await once(child.stdout, 'data');
  const took = performance.now() - start;
  child.stdin.on('error', () => undefined);
  child.kill('SIGKILL');
  await exited;
  return took;
}

/** The floor for many worktrees: git alone, one list operation at a time, checkouts on every core. */
export async function plainWorktreesMs(repository: string, directory: string, count: number): Promise<number> {
  const start = performance.now();
  const waiting: string[] = [];
  let adding = true;
  const add = async (): Promise<void> => {
    for (let number = 0; number < count; number++) {
      const path = join(directory, `plain-${number}`);
      await git(repository, ['worktree', 'add', '--quiet', '--no-checkout', '-b', `plain-${number}`, path, 'HEAD']);
      waiting.push(path);
    }
    adding = false;
  };
  const checkOut = async (): Promise<void> => {
    while (adding || waiting.length > 0) {
      const path = waiting.shift();
      if (path === undefined) await new Promise((resolve) => setTimeout(resolve, 1));
      else await git(path, ['read-tree', '-u', '--reset', 'HEAD']);
    }
  };
  await Promise.all([add(), ...Array.from({ length: availableParallelism() }, checkOut)]);
  return performance.now() - start;
}

const pieceBytes = 1024 * 1024;

/** The floor for readers of lines: reads a file in pieces and splits it into lines. */
export function readLines(path: string): { lines: number; characters: number } {
  const file = openSync(path, 'r');
  const piece = Buffer.allocUnsafe(pieceBytes);
  let rest = Buffer.alloc(0);
  let lines = 0;
  let characters = 0;
  for (let count = readSync(file, piece); count > 0; count = readSync(file, piece)) {
    const bytes = Buffer.concat([rest, piece.subarray(0, count)]);
    let start = 0;
    for (let end = bytes.indexOf(0x0a); end !== -1; end = bytes.indexOf(0x0a, start)) {
      characters += bytes.toString('utf8', start, end).length;
      lines++;
      start = end + 1;
    }
    rest = Buffer.from(bytes.subarray(start));
  }
  closeSync(file);
  return { lines, characters };
}

/** The floor for a commit: one row per event, written as durably as by the store. */
export function plainDatabase(path: string): { insert(): void; close(): void } {
  const database = new DatabaseSync(path);
  database.exec(
    'pragma journal_mode = wal; pragma synchronous = full; create table log (seq integer primary key, data text)',
  );
  const statement = database.prepare('insert into log (data) values (?)');
  return {
    insert: () => void statement.run('{"reason":"a benchmark"}'),
    close: () => database.close(),
  };
}
