import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, readSync } from 'node:fs';
import { endianness } from 'node:os';
import { basename } from 'node:path';
import { hasErrno } from '@pawl/schema/error';
import type { ProcessEntry, ProcessTable } from './process-table.ts';

/** The boot id, which distinguishes start times of different boots; null where the system has none. */
export const currentBoot: string | null = process.platform === 'linux' ? readBoot() : null;

function readBoot(): string | null {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  } catch {
    return null;
  }
}

/** The kernel's units of time and memory, from this process's auxiliary vector. */
const unit = process.platform === 'linux' ? readUnit() : { tickMs: 10, pageBytes: 4_096 };

function readUnit(): { tickMs: number; pageBytes: number } {
  const told = new Map<bigint, bigint>();
  const words = readFileSync('/proc/self/auxv');
  for (let at = 0; at + 16 <= words.length; at += 16) told.set(readWord(words, at), readWord(words, at + 8));
  const [pageBytes, ticksPerSecond] = [told.get(6n) ?? 4_096n, told.get(17n) ?? 100n];
  return { tickMs: 1_000 / Number(ticksPerSecond), pageBytes: Number(pageBytes) };
}

function readWord(words: Buffer, at: number): bigint {
  return endianness() === 'LE' ? words.readBigUInt64LE(at) : words.readBigUInt64BE(at);
}

/** Reads a file of a process; null if the process is gone or not ours. */
function readProcess(pid: number, name: 'environ' | 'cmdline'): Buffer | null {
  try {
    return readFileSync(`/proc/${pid}/${name}`);
  } catch (error) {
    // Out of descriptors: nothing was learned about the process.
    if (hasErrno(error, 'EMFILE', 'ENFILE', 'ENOMEM')) throw error;
    return null;
  }
}

/**
 * Parses a line of `/proc/<pid>/stat`. The second field is the program's name in parentheses and may contain spaces and
 * parentheses, so fields are counted from the last `)`.
 */
export function parseStat(line: string, boot: string): ProcessEntry | null {
  const open = line.indexOf(' (');
  const close = line.lastIndexOf(') ');
  if (open < 1 || close < open) return null;
  const fields = line.slice(close + 2).split(' ', 49);
  const [state, parent, group] = fields;
  const ticks = fields[19];
  if (state === undefined || ticks === undefined || !/^\d{1,20}$/.test(ticks)) return null;
  const entry = {
    pid: Number(line.slice(0, open)),
    parent: Number(parent),
    group: Number(group),
    start: `${boot}/${ticks}`,
    defunct: state === 'Z' || state === 'X' || state === 'x',
    stopped: state === 'T' || state === 't',
    blocked: state === 'D',
    // User and system time, own and of waited-for children.
    cpuMs: fields.slice(11, 15).reduce((sum, text) => sum + Number(text), 0) * unit.tickMs,
    residentBytes: Number(fields[21] ?? 0) * unit.pageBytes,
    // The memory range of the environment, which changes with each exec.
    image: fields[47] === '0' || fields[48] === undefined ? '' : `${fields[47]}-${fields[48]}`,
    bare: isKernelThread(Number(fields[6])) || (fields[47] !== '0' && fields[47] === fields[48]),
  };
  return Number.isSafeInteger(entry.pid) && Number.isInteger(entry.parent) && Number.isInteger(entry.group)
    ? entry
    : null;
}

function isKernelThread(flags: number): boolean {
  return Math.floor(flags / 0x200000) % 2 === 1;
}

/** The values after a prefix in a list of NUL-terminated strings. */
function valuesIn(list: Buffer, prefix: Buffer): string[] {
  const values: string[] = [];
  for (let at = list.indexOf(prefix); at !== -1; at = list.indexOf(prefix, at + 1)) {
    if (at > 0 && list[at - 1] !== 0) continue;
    const end = list.indexOf(0, at);
    values.push(list.toString('utf8', at + prefix.length, end === -1 ? list.length : end));
  }
  return values;
}

const statBuffer = Buffer.alloc(4_096);

/** Reads the stat line of a process with little work: a listing does this for each. */
function readStat(pid: number): string | null {
  let descriptor;
  try {
    descriptor = openSync(`/proc/${pid}/stat`, 'r');
    return statBuffer.toString('latin1', 0, readSync(descriptor, statBuffer));
  } catch (error) {
    // Only these mean that there is no such process, or none of ours. Other errors say nothing about it.
    if (hasErrno(error, 'ENOENT', 'ESRCH', 'EACCES', 'EPERM')) return null;
    throw error;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Linux: reads everything from `/proc` without starting a program. */
export const procTable: ProcessTable = {
  read(pid) {
    const line = readStat(pid);
    return line === null ? null : parseStat(line, currentBoot ?? '');
  },
  list(except) {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name) && except?.has(Number(name)) !== true)
      .map((name) => procTable.read(Number(name)))
      .filter((entry) => entry !== null);
  },
  variables(pids, name) {
    const prefix = Buffer.from(`${name}=`);
    const found = new Map<number, string[] | null>();
    for (const pid of pids) {
      const environment = readProcess(pid, 'environ');
      if (environment !== null) found.set(pid, environment.length === 0 ? null : valuesIn(environment, prefix));
    }
    return found;
  },
  outputs(pid) {
    return [1, 2].flatMap((descriptor) => {
      try {
        return [readlinkSync(`/proc/${pid}/fd/${descriptor}`)];
      } catch {
        return [];
      }
    });
  },
  runsScript(pid, path) {
    const commandLine = readProcess(pid, 'cmdline');
    if (commandLine === null || commandLine.length === 0) return null;
    // The script must be the shell's first argument; a later one could belong to any other program.
    return commandLine.toString('utf8').split('\0', 2)[1] === path;
  },
  program(pid) {
    const [word = ''] = readProcess(pid, 'cmdline')?.toString('utf8').split('\0', 1) ?? [];
    return word === '' ? null : basename(word);
  },
  parseStart(pid, boot, detail) {
    if (!/^[0-9a-f-]{36}$/.test(boot)) return null;
    const entry = parseStat(detail, boot);
    return entry?.pid === pid ? entry.start : null;
  },
};
