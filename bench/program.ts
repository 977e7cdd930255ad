import { programs } from '@pawl/protocol/node/programs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const dist = join(import.meta.dirname, '..', 'dist');

/** The built programs, as installed. */
export const programPaths = {
  pawl: join(dist, 'pawl.mjs'),
  /** With the command line's flags. */
  daemon: [...programs.daemon.slice(0, -1), join(dist, 'daemon.mjs')],
  scriptedAgent: join(dist, 'scripted-agent.mjs'),
  proxy: join(dist, 'proxy.mjs'),
  engine: join(dist, 'pawl-engine.mjs'),
  engineFlags: programs.engine.slice(0, -1),
};

/** Runs a command to its end and returns its duration in milliseconds. Its failure fails the measure. */
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

/** The memory of a process in bytes, with pages that several processes share divided among them. */
export function proportionalBytes(pid: number): number {
  const kilobytes = /^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1];
  return Number(kilobytes ?? Number.NaN) * 1024;
}

/** The processor time of a process, in milliseconds. The kernel counts in steps of ten. */
export function processorMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The program's name is in parentheses and may contain anything; the fields after it are numbers.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** The number of living children of a process. */
export function childCount(pid: number): number {
  return childrenOf(pid).length;
}

function childrenOf(pid: number): number[] {
  const words = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ');
  return words.filter((word) => word !== '').map(Number);
}

/** The process of Node below another one that runs a program; 0 if there is none. */
export function processBelow(pid: number, program: string): number {
  for (const child of childrenOf(pid)) {
    const [command, ...words] = readFileSync(`/proc/${child}/cmdline`, 'utf8').split('\0');
    // The shim has the same words, but is a shell.
    if (command === process.execPath && words.includes(program)) return child;
    const below = processBelow(child, program);
    if (below !== 0) return below;
  }
  return 0;
}
