import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** A process, with the moment it began: a number alone may be somebody else's by the time it is signalled. */
export type Member = { pid: number; start: string };

type Entry = Member & { parent: number };

/** A process and everything that descends from it, the oldest first. Empty when it is gone. */
export function treeOf(pid: number): Member[] {
  const entries = readProcesses();
  const found = entries.filter((entry) => entry.pid === pid);
  for (const member of found) found.push(...entries.filter((entry) => entry.parent === member.pid));
  return found.map(({ pid, start }) => ({ pid, start }));
}

/** Kills those that still live, the oldest first so that it starts nothing new. */
export function killMembers(members: Member[]): void {
  const living = new Map(readProcesses().map((entry) => [entry.pid, entry.start]));
  for (const { pid, start } of members) {
    if (living.get(pid) !== start) continue;
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended by itself in the meantime.
    }
  }
}

/** Every process, from /proc where there is one, else from ps. */
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
    // The name of the program stands in parentheses and may itself contain any character.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return [{ pid: Number(name), parent: Number(fields[1]), start: fields[19] ?? '' }];
  } catch {
    return [];
  }
}
