import { hasErrno, PawlError } from '@pawl/schema/error';
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { canonical, isInside } from '../roster.ts';
import { rosterLimits } from '../roster-limit.ts';
import type { Layout } from './anchor-path.ts';
import { anchorDirectory, olderLayout, ownLayout, singleton } from './anchor-path.ts';

/** The layout that a project uses: the older one only if its files exist and ours do not. */
export function layoutOf(root: string): Layout {
  const inUse = (layout: Layout) =>
    [singleton(layout), anchorDirectory(layout)].some((path) => exists(join(root, path)));
  return inUse(olderLayout) && !inUse(ownLayout) ? olderLayout : ownLayout;
}

/**
 * The beginning of a project file as text; null if it is not a plain file. Repositories contain files that others
 * wrote, so no link is followed, neither to the file nor out of the project.
 */
export function readAnchor(root: string, path: string): string | null {
  const place = placeIn(root, path);
  if (place === null) return null;
  let descriptor: number | undefined;
  try {
    descriptor = openSync(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    if (!fstatSync(descriptor).isFile()) return null;
    const buffer = Buffer.alloc(rosterLimits.anchorBytes);
    return buffer.toString('utf8', 0, readSync(descriptor, buffer));
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO', 'EISDIR')) return null;
    throw error;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Creates a file with its directory, private to its owner; false if it exists. */
export function createAnchor(root: string, path: string, text: string): boolean {
  mkdirSync(join(root, dirname(path)), { recursive: true });
  const place = placeIn(root, path);
  if (place === null) throw leadsOutside(path);
  let descriptor: number | undefined;
  try {
    descriptor = openSync(place, 'wx', 0o600);
    writeSync(descriptor, text);
    fsyncSync(descriptor);
    return true;
  } catch (error) {
    if (hasErrno(error, 'EEXIST')) return false;
    throw error;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** The names of the helpers' anchor files. */
export function listAnchors(root: string, layout: Layout): string[] {
  const directory = anchorDirectory(layout);
  const place = placeIn(root, `${directory}/any`);
  if (place === null) return [];
  try {
    return readdirSync(dirname(place))
      .filter((name) => name.endsWith(`.${layout.extension}`))
      .toSorted()
      .slice(0, rosterLimits.helperFiles)
      .map((name) => `${directory}/${name}`);
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR')) return [];
    throw error;
  }
}

/** The real path of a project file; null if its directory is missing, or leads out of the project. */
export function placeIn(root: string, path: string): string | null {
  const [project, directory] = [canonical(root), canonical(join(root, dirname(path)))];
  if (project === null || directory === null || !isInside(directory, project)) return null;
  return join(directory, path.slice(path.lastIndexOf('/') + 1));
}

export function leadsOutside(path: string): PawlError {
  return new PawlError('conflict', `${path} leads out of the project, so it is neither read nor written.`, {
    hint: 'Put a plain directory in its place.',
  });
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
