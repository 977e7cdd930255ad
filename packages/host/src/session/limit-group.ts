import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hasErrno } from '@pawl/schema/error';
import type { SandboxLimits } from '@pawl/schema/launch-spec';
import { groupFor, leafGroup, makeGroup, removeGroup, sweepGroups } from './control-group.ts';

/** Bounds of all processes of a launch together; null for none. */
export type GroupLimits = Pick<SandboxLimits, 'memoryBytes' | 'processes'>;

/** A controller of the kernel, with the files that set its limit by the version of its hierarchy. */
const controllers = [
  { name: 'pids', of: 'processes', files: { 1: ['pids.max'], 2: ['pids.max'] } },
  {
    name: 'memory',
    of: 'memoryBytes',
    files: { 1: ['memory.limit_in_bytes', 'memory.memsw.limit_in_bytes'], 2: ['memory.max'] },
  },
] as const;

type Controller = (typeof controllers)[number];

/** The groups that a launch joins beside its own, and which of its limits a group enforces. */
export type Limited = { join: string[]; enforced: (keyof GroupLimits)[] };

/**
 * Limits all processes of a launch together: in its own group (cgroup v2, null without one), else in groups of cgroup v1.
 * A limit that the system does not let us set is not among the enforced ones.
 */
export function limitTogether(group: string | null, marker: string, limits: GroupLimits): Limited {
  const limited: Limited = { join: [], enforced: [] };
  for (const controller of controllers) {
    const most = limits[controller.of];
    if (most === null) continue;
    const older = groupForController(controller.name, marker);
    if (group !== null && setLimit(group, controller.files[2], most)) limited.enforced.push(controller.of);
    else if (older !== null && makeOlderGroup(older) && setLimit(older, controller.files[1], most)) {
      limited.join.push(older);
      limited.enforced.push(controller.of);
    }
  }
  // Otherwise a group that has no memory left goes on in the swap.
  if (group !== null && limited.enforced.includes('memoryBytes')) write(`${group}/memory.swap.max`, '0');
  return limited;
}

/** Removes the v1 groups of a launch that has ended. Its own group is not among them. */
export function removeLimitGroups(marker: string): void {
  for (const { name } of controllers) {
    const group = groupForController(name, marker);
    if (group !== null) removeGroup(group);
  }
}

/** Removes leftover v1 groups. */
export function sweepLimitGroups(): void {
  for (const { name } of controllers) sweepGroups(olderBase(name));
}

/**
 * Lets the groups in `base` have limits. The kernel allows that only if no process is in `base` itself, so we move to a
 * group below with everything that we have started, unless others are there, too. Returns what can be limited.
 */
export function enableControllers(
  base: string,
  names: readonly string[] = controllers.map(({ name }) => name),
): string[] {
  const known = wordsIn(`${base}/cgroup.controllers`);
  const isOn = (name: string) => wordsIn(`${base}/cgroup.subtree_control`).includes(name);
  const enable = (name: string) => write(`${base}/cgroup.subtree_control`, `+${name}`);
  return names.filter(
    (name) => known.includes(name) && (isOn(name) || enable(name) || (moveDown(base) && enable(name))),
  );
}

/** Moves our processes out of a group into one below it. False if others are there, too. */
function moveDown(base: string): boolean {
  const pids = wordsIn(`${base}/cgroup.procs`).map(Number);
  if (pids.length === 0 || !pids.every(isOurs)) return false;
  const leaf = leafGroup(base);
  return makeGroup(leaf) && pids.every((pid) => write(`${leaf}/cgroup.procs`, String(pid)));
}

/** True for this process and its descendants. */
function isOurs(pid: number): boolean {
  for (let at = pid; at > 1; at = parentOf(at)) if (at === process.pid) return true;
  return false;
}

function parentOf(pid: number): number {
  return Number(/^PPid:\s*(\d+)$/m.exec(readText(`/proc/${pid}/status`))?.[1] ?? 0);
}

function setLimit(group: string, files: readonly string[], most: number): boolean {
  const [first = '', ...others] = files;
  if (!write(`${group}/${first}`, String(most))) return false;
  // A kernel that does not count the swap has no file for it.
  for (const file of others) write(`${group}/${file}`, String(most));
  return true;
}

function groupForController(name: Controller['name'], marker: string): string | null {
  const base = olderBase(name);
  return base === null ? null : groupFor(base, marker);
}

/** The top of a controller's v1 hierarchy, if we are there; null if not: then somebody else manages our group. */
function olderBase(name: Controller['name']): string | null {
  const own = readText('/proc/self/cgroup').split('\n');
  if (!own.some((line) => /^\d+:([^:]*):\/$/.exec(line)?.[1]?.split(',').includes(name))) return null;
  for (const line of readText('/proc/self/mountinfo').split('\n')) {
    const [before = '', after = ''] = line.split(' - cgroup ');
    const [, , , root, place] = before.split(' ');
    const options = after.split(' ').at(-1)?.split(',') ?? [];
    if (root === '/' && place !== undefined && options.includes(name)) return place;
  }
  return null;
}

function makeOlderGroup(path: string): boolean {
  try {
    mkdirSync(path);
    return true;
  } catch (error) {
    return hasErrno(error, 'EEXIST');
  }
}

function write(path: string, text: string): boolean {
  try {
    writeFileSync(path, text, { flag: 'r+' });
    return true;
  } catch {
    return false;
  }
}

function wordsIn(path: string): string[] {
  return readText(path)
    .split(/\s+/)
    .filter((word) => word !== '');
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
