import { appendFileSync, lstatSync, mkdirSync, realpathSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { hasErrno, PawlError } from '@pawl/schema/error';

/** The place of the file that tells Pawl how the work ended. */
export const signalPath = join('.pawl', 'output', 'signal.json');

/** Writes a file of the working directory and returns its path relative to it. */
export function writeWorkspaceFile(directory: string, path: string, content: string): string {
  const target = insideOf(directory, path);
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, content);
  return relative(directory, target);
}

/** Adds to a file of the working directory and returns its path relative to it. */
export function appendWorkspaceFile(directory: string, path: string, content: string): string {
  const target = insideOf(directory, path);
  mkdirSync(dirname(target), { recursive: true });
  appendFileSync(target, content);
  return relative(directory, target);
}

/** Replaces a file of the working directory in one step, so that no reader sees half of it. */
export function replaceWorkspaceFile(directory: string, path: string, content: string): void {
  const target = insideOf(directory, path);
  mkdirSync(dirname(target), { recursive: true });
  const temporary = `${target}.${process.pid}.tmp`;
  writeFileSync(temporary, content);
  renameSync(temporary, target);
}

/** The absolute path, or an error when it leads out of the directory by `..`, as an absolute path or through a link. */
function insideOf(directory: string, path: string): string {
  const root = realpathSync(directory);
  const target = resolve(root, path);
  if (path.includes('\0') || !isInside(root, target) || !isInside(root, realParent(target))) throw refusal(path);
  if (!isLink(target)) return target;
  const linked = realTarget(target);
  if (linked === undefined || !isInside(root, linked)) throw refusal(path);
  return linked;
}

function isInside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** The real path of the nearest directory above that exists. */
function realParent(target: string): string {
  for (let parent = dirname(target); ; parent = dirname(parent)) {
    const real = realTarget(parent);
    if (real !== undefined) return real;
    // A link that leads nowhere would be followed when the directory is made.
    if (isLink(parent)) throw refusal(target);
  }
}

function realTarget(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) return undefined;
    throw error;
  }
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

function refusal(path: string): PawlError {
  return new PawlError('forbidden', `Refused: ${path.slice(0, 200)} leads out of the working directory.`, {
    hint: 'Use a path inside the working directory.',
  });
}
