import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmdirSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, isAbsolute, normalize } from 'node:path';
import { hasErrno } from '@pawl/schema/error';
import { hostLimits } from '../host-limit.ts';
import { readSmallFile, sessionFile } from './session-files.ts';

/** The type of a cgroup v2 file system in `statfs`. */
const cgroup2 = 0x63677270;
const prefix = 'pawl.';

/**
 * The control group in which sessions get their own: ours, or the one around the session that started us. Null without
 * cgroup v2.
 */
export function groupBase(): string | null {
  const own = /^0::(\/.*)$/m.exec(readText('/proc/self/cgroup'))?.[1];
  if (own === undefined || own.includes('/..')) return null;
  for (const line of readText('/proc/self/mountinfo').split('\n')) {
    if (!line.includes(' - cgroup2 ')) continue;
    const [, , , root = '', place = ''] = line.split(' ').map(unescaped);
    if (root !== '/' && own !== root && !own.startsWith(`${root}/`)) continue;
    const below = root === '/' ? own : own.slice(root.length);
    return normalize(`${place}/${outside(below)}`).replace(/(?<=.)\/$/, '');
  }
  return null;
}

/** Leaves the group of a session that started us, so that we do not end with it. */
export function leaveSessionGroup(): void {
  const base = groupBase();
  if (base === null || !/^0::.*\/pawl\./m.test(readText('/proc/self/cgroup'))) return;
  // If the groups in the base have limits, no process may be in the base itself.
  for (const group of [base, leafGroup(base)]) {
    try {
      if (group !== base) makeGroup(group);
      writeFileSync(`${group}/cgroup.procs`, String(process.pid));
      return;
    } catch {
      // A process that may not leave could not have been put there.
    }
  }
}

/** The group for a daemon and its helpers, beside the groups of sessions. */
export function leafGroup(base: string): string {
  return groupFor(base, 'daemon');
}

/** Strips session groups from the end of a path: a session's processes end with it, and we must not. */
function outside(path: string): string {
  const parts = path.split('/');
  const first = parts.findIndex((part) => part.startsWith(prefix));
  return (first === -1 ? parts : parts.slice(0, first)).join('/');
}

/** Unescapes spaces and the like in `mountinfo`, such as `\040`. */
function unescaped(word: string): string {
  return word.replaceAll(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)));
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

export function groupFor(base: string, marker: string): string {
  return `${base}/${prefix}${marker}`;
}

/** Creates a group. False if the system does not allow it, or has no groups. */
export function makeGroup(path: string): boolean {
  if (!isGroup(dirname(path))) return false;
  try {
    mkdirSync(path);
    return true;
  } catch (error) {
    return hasErrno(error, 'EEXIST');
  }
}

/**
 * The group that a session's shim has joined, by its record; null if none. The record is not trusted to name any other.
 */
export function groupOf(dir: string, marker: string): string | null {
  const path = readSmallFile(sessionFile(dir, 'group'), hostLimits.identityFileBytes)?.trimEnd();
  if (path === undefined || !isAbsolute(path) || normalize(path) !== path) return null;
  return path === groupFor(dirname(path), marker) && isGroup(path) ? path : null;
}

function isGroup(path: string): boolean {
  try {
    return statfsSync(path).type === cgroup2;
  } catch {
    return false;
  }
}

/** The processes in a group and below. */
export function pidsInGroup(path: string): number[] {
  return [path, ...groupsBelow(path)].flatMap((group) =>
    readText(`${group}/cgroup.procs`)
      .split('\n')
      .flatMap((line) => (/^[1-9]\d*$/.test(line) ? [Number(line)] : [])),
  );
}

/** All groups below one, the deepest last. */
function groupsBelow(path: string): string[] {
  const found = childGroups(path);
  for (let at = 0; at < found.length && found.length < hostLimits.groups; at += 1)
    found.push(...childGroups(found[at] ?? ''));
  return found;
}

function childGroups(path: string): string[] {
  try {
    const entries = readdirSync(path, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => `${path}/${name}`);
  } catch {
    return [];
  }
}

/** Removes a group without processes, with those below it. Leaves one that has some. */
export function removeGroup(path: string): void {
  for (const group of [...groupsBelow(path).toReversed(), path]) {
    try {
      rmdirSync(group);
    } catch {
      // It has processes, or is already gone.
    }
  }
}

/** Removes leftover session groups: empty, and older than any start takes. */
export function sweepGroups(base: string | null, now = Date.now()): void {
  if (base === null) return;
  for (const group of childGroups(base).filter((path) => basename(path).startsWith(prefix))) {
    if (now - (statSync(group, { throwIfNoEntry: false })?.mtimeMs ?? now) > hostLimits.emptyGroupMs)
      removeGroup(group);
  }
}

/** Probes whether a process can be put into its own group, with a short-lived process. */
export async function canGroup(base = groupBase()): Promise<boolean> {
  if (base === null) return false;
  const group = groupFor(base, `probe-${process.pid}-${randomUUID()}`);
  if (!makeGroup(group)) return false;
  try {
    return await new Promise((resolve) => {
      const join = spawn('/bin/sh', ['-c', 'echo $$ >"$1/cgroup.procs"', 'sh', group], { stdio: 'ignore' });
      join.on('error', () => resolve(false)).on('exit', (code) => resolve(code === 0));
    });
  } finally {
    removeGroup(group);
  }
}
