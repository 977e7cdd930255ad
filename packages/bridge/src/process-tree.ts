import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** A process with its start time: a pid alone may be reused by the time it is signalled. */
export type Member = { pid: number; start: string };

type Entry = Member & { parent: number };

/** A process and all its descendants, oldest first. Empty if it is gone. */
export function treeOf(pid: number): Member[] {
  const entries = readProcesses();
  const found = entries.filter((entry) => entry.pid === pid);
  for (const member of found) found.push(...entries.filter((entry) => entry.parent === member.pid));
  return found.map(({ pid, start }) => ({ pid, start }));
}

/** Kills those still alive, oldest first, so that none starts new ones. */
export function killMembers(members: Member[]): void {
  const living = new Map(readProcesses().map((entry) => [entry.pid, entry.start]));
  for (const { pid, start } of members) {
    if (living.get(pid) !== start) continue;
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended by itself meanwhile.
    }
  }
}

/** All processes, from /proc if available, else from ps. */
function readProcesses(): Entry[] {
  if (process.platform === 'linux') return readdirSync('/proc').flatMap(readEntry);
  const listing = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,lstart='], { encoding: 'utf8' });
  return listing.split('\n').flatMap((line) => {
    const [, pid, parent, start] = /^\s*(\d+)\s+(\d+)\s+(.*\S)\s*$/.exec(line) ?? [];
    return start === undefined ? [] : [{ pid: Number(pid), parent: Number(parent), start }];
  });
}

function readEntry(name: string): Entry[] {
  if (!/^\d+$/.test(name)) return [];
  try {
    const stat = readFileSync(`/proc/${name}/stat`, 'latin1');
    // The program's name in parentheses may contain any character.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return [{ pid: Number(name), parent: Number(fields[1]), start: fields[19] ?? '' }];
  } catch {
    return [];
  }
}
