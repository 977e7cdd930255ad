import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** Kills a process and all its descendants, oldest first, so that none starts new ones. */
export function killTree(pid: number): void {
  for (const member of [pid, ...descendantsOf(pid)]) {
    try {
      process.kill(member, 'SIGKILL');
    } catch {
      // It has ended by itself meanwhile.
    }
  }
}

function descendantsOf(pid: number): number[] {
  const parents = readParents();
  const found = [pid];
  for (const parent of found) {
    for (const [child, itsParent] of parents) if (itsParent === parent) found.push(child);
  }
  return found.slice(1);
}

/** The parent of every process, from /proc if available, else from ps. */
function readParents(): Map<number, number> {
  const parents = new Map<number, number>();
  if (process.platform === 'linux') {
    for (const name of readdirSync('/proc')) {
      const parent = /^\d+$/.test(name) ? readParent(name) : undefined;
      if (parent !== undefined) parents.set(Number(name), parent);
    }
    return parents;
  }
  for (const line of execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).split('\n')) {
    const [pid, parent] = line.trim().split(/\s+/).map(Number);
    if (pid !== undefined && parent !== undefined) parents.set(pid, parent);
  }
  return parents;
}

function readParent(pid: string): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The program's name in parentheses may contain any character.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined;
  }
}
