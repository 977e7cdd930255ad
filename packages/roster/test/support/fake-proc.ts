import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A process of a made-up system. */
export type FakeProcess = {
  pid: number;
  parent?: number;
  name?: string;
  /** What the cwd leads to; null leaves the link out, and `unreadable` puts something there that is no link. */
  cwd?: string | null | { unreadable: true };
  words?: string[];
  environment?: Record<string, string>;
  /** Ticks since boot. */
  start?: number;
  state?: string;
};

/** When the made-up system was booted, in seconds. */
export const bootSeconds = 1_700_000_000;

/** Writes a directory that looks like `/proc`, with an init process and these. */
export function fakeProc(directory: string, processes: FakeProcess[]): string {
  mkdirSync(join(directory, 'sys/kernel/random'), { recursive: true });
  writeFileSync(join(directory, 'sys/kernel/random/boot_id'), 'the-boot\n');
  writeFileSync(join(directory, 'stat'), `cpu 1 2 3\nbtime ${bootSeconds}\n`);
  for (const process of [{ pid: 1, name: 'init', cwd: '/' }, ...processes]) addProcess(directory, process);
  return directory;
}

function addProcess(root: string, process: FakeProcess): void {
  const { pid, parent = pid === 1 ? 0 : 1, name = 'sh', cwd = '/', start = pid, state = 'S' } = process;
  const { words = [name], environment = {} } = process;
  const directory = join(root, String(pid));
  mkdirSync(directory);
  // Fields 3 to 52 of the line, of which few matter here.
  const fields = [state, parent, pid, ...Array.from({ length: 16 }, () => 0), start, 0, 0];
  const rest = Array.from({ length: 28 }, (_, index) => (index === 25 ? 100 : index === 26 ? 200 : 0));
  writeFileSync(join(directory, 'stat'), `${pid} (${name}) ${[...fields, ...rest].join(' ')}\n`);
  writeFileSync(join(directory, 'cmdline'), words.map((word) => `${word}\0`).join(''));
  const entries = Object.entries(environment).map(([key, value]) => `${key}=${value}\0`);
  writeFileSync(join(directory, 'environ'), entries.join(''));
  if (cwd === null) return;
  if (typeof cwd === 'string') symlinkSync(cwd, join(directory, 'cwd'));
  else writeFileSync(join(directory, 'cwd'), '');
}
