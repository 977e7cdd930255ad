import { closeSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';
import { hasErrno } from '@pawl/schema/error';
import type { ProcessEntry, ProcessTable } from './process-table.ts';

let bootId: string | undefined;

/** The id of the running boot, which makes start times of different boots differ. */
function currentBoot(): string {
  bootId ??= readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  return bootId;
}

/** Reads a file of a process, or null when the process is gone or not ours to see. */
function readProcess(pid: number, name: 'environ' | 'cmdline'): Buffer | null {
  try {
    return readFileSync(`/proc/${pid}/${name}`);
  } catch (error) {
    // When we have run out of descriptors, nothing has been learned about the process.
    if (hasErrno(error, 'EMFILE', 'ENFILE', 'ENOMEM')) throw error;
    return null;
  }
}

/**
 * Parses a line of `/proc/<pid>/stat`. The second field is the program's name in parentheses and may itself hold spaces
 * and parentheses, so fields are counted from the last `)`.
 */
export function parseStat(line: string, boot: string): ProcessEntry | null {
  const open = line.indexOf(' (');
  const close = line.lastIndexOf(') ');
  if (open < 1 || close < open) return null;
  const fields = line.slice(close + 2).split(' ', 20);
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
  };
  return Number.isSafeInteger(entry.pid) && Number.isInteger(entry.parent) && Number.isInteger(entry.group)
    ? entry
    : null;
}

/** True when a list of strings that end in NUL has this string. */
function listHas(list: Buffer, wanted: string): boolean {
  const item = Buffer.from(`${wanted}\0`);
  for (let at = list.indexOf(item); at !== -1; at = list.indexOf(item, at + 1)) {
    if (at === 0 || list[at - 1] === 0) return true;
  }
  return false;
}

const statBuffer = Buffer.alloc(4_096);

/** Reads the stat line of a process with as little work as possible: a look at all processes does it for each. */
function readStat(pid: number): string | null {
  let descriptor;
  try {
    descriptor = openSync(`/proc/${pid}/stat`, 'r');
    return statBuffer.toString('latin1', 0, readSync(descriptor, statBuffer));
  } catch (error) {
    // Only these mean that there is no such process, or none of ours. Whatever else went wrong says nothing about it.
    if (hasErrno(error, 'ENOENT', 'ESRCH', 'EACCES', 'EPERM')) return null;
    throw error;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Linux: everything is read from `/proc` without starting a program. */
export const procTable: ProcessTable = {
  read(pid) {
    const line = readStat(pid);
    return line === null ? null : parseStat(line, currentBoot());
  },
  list() {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((name) => procTable.read(Number(name)))
      .filter((entry) => entry !== null);
  },
  hasVariable(pid, name, value) {
    const environment = readProcess(pid, 'environ');
    return environment !== null && listHas(environment, `${name}=${value}`);
  },
  runsScript(pid, path) {
    const commandLine = readProcess(pid, 'cmdline');
    if (commandLine === null || commandLine.length === 0) return null;
    // The script is the shell's first argument; a later one could be an argument of any other program.
    return commandLine.toString('utf8').split('\0', 2)[1] === path;
  },
  parseStart(pid, boot, detail) {
    if (!/^[0-9a-f-]{36}$/.test(boot)) return null;
    const entry = parseStat(detail, boot);
    return entry?.pid === pid ? entry.start : null;
  },
};
