import { waitUntil } from './wait-until.ts';
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Real processes that are called like agents, and do nothing. They are orphans, like processes that Pawl did not start.
 */
export type Sleepers = AsyncDisposable & {
  /** Starts one under this name in a directory; resolves when it is what it is called. */
  start(name: string, cwd: string, environment?: Record<string, string>): Promise<number>;
  /** The same for a command of one's own. */
  startCommand(command: string[], cwd: string, environment?: Record<string, string>): number;
  /** A copy of a program under another name. */
  program(name: string, of: string): string;
  end(pid: number): Promise<void>;
};

/** Makes copies of programs below a directory; all that were started are gone in the end. */
export function sleepers(directory: string): Sleepers {
  const running = new Set<number>();
  mkdirSync(directory, { recursive: true });
  const program = (name: string, of: string) => {
    const path = join(directory, name);
    if (!existsSync(path)) copyFileSync(of, path);
    return path;
  };
  const startCommand: Sleepers['startCommand'] = (command, cwd, environment = {}) => {
    const env = { PATH: process.env['PATH'], ...environment };
    // The shell leaves at once, so that what it started has no parent among us.
    const script = '"$@" >/dev/null 2>&1 </dev/null & echo $!';
    const pid = Number(execFileSync('/bin/sh', ['-c', script, 'sh', ...command], { cwd, env, encoding: 'utf8' }));
    running.add(pid);
    return pid;
  };
  const end = async (pid: number) => {
    if (!running.delete(pid)) return;
    process.kill(pid, 'SIGKILL');
    await waitUntil(() => hasEnded(pid), { what: `${pid} to leave` });
  };
  return {
    program,
    startCommand,
    end,
    async start(name, cwd, environment) {
      const pid = startCommand([program(name, '/bin/sleep'), '300'], cwd, environment);
      await waitUntil(() => readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === name, { what: `${name} to run` });
      return pid;
    },
    async [Symbol.asyncDispose]() {
      for (const pid of running) await end(pid);
    },
  };
}

/** Gone, or a zombie that waits for the reaper of orphans. */
export function hasEnded(pid: number): boolean {
  try {
    return /\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return true;
  }
}
