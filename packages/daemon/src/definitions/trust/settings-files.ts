import { hasErrno, isPassing, messageOf } from '@pawl/schema/error';
import { createHash } from 'node:crypto';
import { lstat, opendir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readDefinitionText } from '../definition-text.ts';
import { nameShape, segmentsOf } from './path-shape.ts';
import { trustLimits } from './trust-limit.ts';

/** A file of a repository that a provider would read as settings. */
export type SettingsFile = {
  /** Relative to the top of the work tree, with `/`. */
  path: string;
  /** The bytes and their hash; null if the file cannot be judged, and so cannot be trusted. */
  content: { bytes: Uint8Array; sha256: string } | null;
  /** Why it cannot be judged. */
  reason: string | null;
};

type Scan = { root: string; entries: number; files: Map<string, SettingsFile> };

/** Thrown when the limits are exceeded, since a partial list would be misleading. */
class LimitExceeded extends Error {}

/**
 * Finds the files of a work tree that these paths match: a file, a directory with everything below it, `*` for part of
 * a name, `**` for everything below. Follows no link: its target may change at any time, so a link is a file that
 * cannot be judged.
 */
export async function findSettings(root: string, paths: string[]): Promise<SettingsFile[]> {
  const scan: Scan = { root, entries: 0, files: new Map() };
  for (const path of new Set(paths)) {
    const segments = segmentsOf(path);
    if (segments.length === 0) continue;
    try {
      await follow(scan, '', segments);
    } catch (error) {
      if (!(error instanceof LimitExceeded)) throw error;
      cannotJudge(scan, path, 'has too many files');
      scan.entries = 0;
    }
  }
  return [...scan.files.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** Walks the segments of one path, starting at `at`. */
async function follow(scan: Scan, at: string, segments: string[]): Promise<void> {
  const [segment, ...rest] = segments;
  if (segment === undefined || segment === '**') return take(scan, at);
  if (at !== '' && !(await isOwnDirectory(scan, at, segments))) return;
  if (!segment.includes('*')) return follow(scan, under(at, segment), rest);
  const shape = nameShape(segment);
  for (const name of await namesIn(scan, at)) if (shape.test(name)) await follow(scan, under(at, name), rest);
}

/** True for a directory. A link in its place that leads to something counts as a file that cannot be judged. */
async function isOwnDirectory(scan: Scan, at: string, segments: string[]): Promise<boolean> {
  const status = await statusOf(scan, at);
  if (status === null) return false;
  if (!status.isSymbolicLink()) return status.isDirectory();
  const glob = segments.findIndex((segment) => segment.includes('*'));
  const named = glob === -1 ? segments : segments.slice(0, glob);
  if (await leadsSomewhere(join(scan.root, at, ...named))) cannotJudge(scan, at, 'is a link');
  return false;
}

/** Adds a file, or everything below a directory. */
async function take(scan: Scan, at: string, depth = 0): Promise<void> {
  const status = await statusOf(scan, at);
  if (status === null || scan.files.has(at)) return;
  if (status.isSymbolicLink()) {
    if (await leadsSomewhere(join(scan.root, at))) cannotJudge(scan, at, 'is a link');
    return;
  }
  if (status.isDirectory()) {
    if (depth > trustLimits.depth) throw new LimitExceeded();
    for (const name of await namesIn(scan, at)) await take(scan, under(at, name), depth + 1);
    return;
  }
  if (scan.files.size >= trustLimits.files) throw new LimitExceeded();
  const found = await readDefinitionText(join(scan.root, at), null);
  if (found === null) return;
  if (found.state !== 'read') return cannotJudge(scan, at, found.state === 'refused' ? found.reason : 'has changed');
  const sha256 = createHash('sha256').update(found.bytes).digest('hex');
  scan.files.set(at, { path: at, content: { bytes: found.bytes, sha256 }, reason: null });
}

async function namesIn(scan: Scan, at: string): Promise<string[]> {
  const names: string[] = [];
  try {
    for await (const { name } of await opendir(join(scan.root, at))) {
      scan.entries += 1;
      if (scan.entries > trustLimits.entries) throw new LimitExceeded();
      names.push(name);
    }
  } catch (error) {
    if (error instanceof LimitExceeded || isPassing(error)) throw error;
    if (!hasErrno(error, 'ENOENT', 'ENOTDIR')) cannotJudge(scan, at, `cannot be read: ${messageOf(error)}`);
    return [];
  }
  return names.toSorted();
}

async function statusOf(scan: Scan, at: string) {
  try {
    return await lstat(join(scan.root, at));
  } catch (error) {
    if (isPassing(error)) throw error;
    if (!hasErrno(error, 'ENOENT', 'ENOTDIR')) cannotJudge(scan, at, `cannot be read: ${messageOf(error)}`);
    return null;
  }
}

async function leadsSomewhere(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (isPassing(error)) throw error;
    return !hasErrno(error, 'ENOENT', 'ENOTDIR', 'ELOOP');
  }
}

function cannotJudge(scan: Scan, path: string, reason: string): void {
  scan.files.set(path, { path, content: null, reason });
}

function under(at: string, name: string): string {
  return at === '' ? name : `${at}/${name}`;
}
