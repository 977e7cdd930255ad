import { parseStat } from '@pawl/host/process/process-table-proc';
import { hasErrno, messageOf } from '@pawl/schema/error';
import { closeSync, existsSync, openSync, readdirSync, readlinkSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Directory, HiddenProcess, ProcessView, SeenProcess } from './process-view.ts';
import { cannotTell } from './process-view.ts';
import { rosterLimits } from './roster-limit.ts';

/** The kernel's unit of start times, on every known system. */
const tickMs = 10;

/** Errors that mean that a process exited meanwhile. */
const gone = ['ENOENT', 'ESRCH'];

const deletedSuffix = ' (deleted)';

/** Linux: reads everything below `/proc`, or below a test's imitation. */
export function procView(root = '/proc'): ProcessView {
  const read = createReader();
  let boot: { id: string; atMs: number | null } | undefined;

  const bootOf = () =>
    (boot ??= {
      id: textOf(read, join(root, 'sys/kernel/random/boot_id')).trim(),
      atMs: Number(/^btime (\d+)$/m.exec(textOf(read, join(root, 'stat')))?.[1] ?? Number.NaN) * 1_000 || null,
    });

  function seen(pid: number): SeenProcess | HiddenProcess | null {
    const directory = `${root}/${pid}`;
    const line = statLine(read, `${directory}/stat`);
    if (line === null) return null;
    const entry = parseStat(line, bootOf().id);
    if (entry?.pid !== pid) return { pid, user: ownerOf(directory) };
    // An ended process works nowhere.
    if (entry.defunct) return null;
    const ticks = Number(entry.start.slice(entry.start.lastIndexOf('/') + 1));
    const { atMs } = bootOf();
    return {
      pid,
      parent: entry.parent,
      // Lazy: a listing needs it for few.
      get user() {
        return ownerOf(directory);
      },
      start: entry.start,
      startedAt: atMs === null ? null : atMs + ticks * tickMs,
      name: Buffer.from(line.slice(line.indexOf(' (') + 2, line.lastIndexOf(') ')), 'latin1').toString(),
      words: entry.bare ? [] : wordsOf(read, `${directory}/cmdline`),
    };
  }

  return {
    list() {
      let names: string[];
      try {
        names = readdirSync(root).filter((name) => /^[1-9]\d{0,9}$/.test(name));
      } catch (error) {
        throw cannotTell(`${root} cannot be read (${messageOf(error)})`, error);
      }
      if (names.length === 0) throw cannotTell(`${root} shows no process`);
      const processes: SeenProcess[] = [];
      const hidden: HiddenProcess[] = [];
      for (const name of names) {
        const found = seen(Number(name));
        if (found === null) continue;
        if ('start' in found) processes.push(found);
        else hidden.push(found);
      }
      return { processes, hidden };
    },
    one(pid) {
      const found = seen(pid);
      return found !== null && 'start' in found ? found : null;
    },
    directories: (pids) => new Map(pids.map((pid) => [pid, directoryOf(join(root, String(pid), 'cwd'))])),
    variable(pid, name) {
      const list = textOf(read, join(root, String(pid), 'environ')).split('\0');
      return list.find((entry) => entry.startsWith(`${name}=`))?.slice(name.length + 1) ?? null;
    },
  };
}

/** A process's stat line; null if it exited, empty if hidden. */
function statLine(read: ReadFile, path: string): string | null {
  try {
    return read(path, 'latin1');
  } catch (error) {
    if (hasErrno(error, ...gone)) return null;
    if (hasErrno(error, 'EACCES', 'EPERM')) return '';
    throw error;
  }
}

function directoryOf(link: string): Directory {
  try {
    let path = readlinkSync(link);
    if (path.endsWith(deletedSuffix) && !existsSync(path))
      return { state: 'deleted', path: path.slice(0, -deletedSuffix.length) };
    // It may have changed its directory just now.
    if (!isSamePlace(link, path)) path = readlinkSync(link);
    if (isSamePlace(link, path)) return { state: 'at', path };
    return { state: 'unreadable', reason: `${path} is another one here: it may be in a container` };
  } catch (error) {
    return hasErrno(error, ...gone) ? { state: 'gone' } : { state: 'unreadable', reason: messageOf(error) };
  }
}

/** Whether a process's directory has the same path for us: in a container's mount namespace it may not. */
function isSamePlace(link: string, path: string): boolean {
  const there = statSync(link, { throwIfNoEntry: false });
  const here = statSync(path, { throwIfNoEntry: false });
  // It exited meanwhile.
  return there === undefined || (here?.ino === there.ino && here.dev === there.dev);
}

function ownerOf(path: string): number | null {
  try {
    return statSync(path).uid;
  } catch {
    return null;
  }
}

function wordsOf(read: ReadFile, path: string): string[] {
  const { commandWords, wordCharacters } = rosterLimits;
  const text = textOf(read, path);
  // A program that set its own title may have dropped word boundaries.
  const words = text.replace(/\0+$/, '').split('\0', commandWords);
  return text === '' ? [] : words.map((word) => word.slice(0, wordCharacters));
}

/** The beginning of a file as text; empty if it is missing or not ours. Throws on other errors. */
function textOf(read: ReadFile, path: string): string {
  try {
    return read(path, 'utf8');
  } catch (error) {
    if (hasErrno(error, ...gone, 'ENOTDIR', 'EACCES', 'EPERM')) return '';
    throw error;
  }
}

type ReadFile = (path: string, encoding: 'utf8' | 'latin1') => string;

/** Returns a function that reads the beginning of a file. All reads share one buffer: a listing makes hundreds. */
function createReader(): ReadFile {
  const buffer = Buffer.allocUnsafeSlow(rosterLimits.processFileBytes);
  return (path, encoding) => {
    const descriptor = openSync(path, 'r');
    try {
      let length = 0;
      for (let count = -1; count !== 0 && length < buffer.length; length += count)
        count = readSync(descriptor, buffer, length, buffer.length - length, null);
      return buffer.toString(encoding, 0, length);
    } finally {
      closeSync(descriptor);
    }
  };
}
