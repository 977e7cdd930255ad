import { programs } from '@pawl/protocol/programs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const dist = join(import.meta.dirname, '..', 'dist');

/** The built programs, as they are installed. */
export const programPaths = {
  pawl: join(dist, 'pawl.mjs'),
  /** With the flags that the command line gives it. */
  daemon: [...programs.daemon.slice(0, -1), join(dist, 'daemon.mjs')],
  scriptedAgent: join(dist, 'scripted-agent.mjs'),
};

/** Runs a command to its end and gives how long that took, in milliseconds. A failure of it is one of the measure. */
export async function commandMs(
  command: string,
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<number> {
  const start = performance.now();
  const child = spawn(command, args, {
    ...options,
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  child.stdout.resume();
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  const took = performance.now() - start;
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${signal ?? code}`);
  return took;
}

/** The resident memory of a process, in bytes. */
export function residentBytes(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes ?? Number.NaN) * 1024;
}

/** The processor time that a process has used, in milliseconds. The kernel counts it in steps of ten. */
export function processorMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name of the program is in parentheses and may hold anything; the fields after it are numbers.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** The processes that a process has started and that are still there. */
export function childCount(pid: number): number {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .split(' ')
    .filter((word) => word !== '').length;
}
