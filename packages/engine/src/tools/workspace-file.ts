import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { mkdir, open, realpath, rename, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { hasErrno, PawlError } from '@pawl/schema/error';
import { engineLimits } from '../limit.ts';
import type { WorkspacePath } from './workspace-path.ts';

export type FileContent = { bytes: Buffer; sizeBytes: number };

/** Reads a file up to a number of bytes; null if there is none. */
export async function readInside(path: WorkspacePath, mostBytes: number): Promise<FileContent | null> {
  try {
    await using directory = await openDirectory(path, false);
    const name = path.segments.at(-1) ?? '.';
    // A pipe must not make the open wait.
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    await using file = await open(directory.entry(name), flags);
    const facts = await file.stat();
    if (!facts.isFile()) throw new PawlError('invalid_input', `${path.shown} is not a file.`);
    const bytes = Buffer.alloc(Math.min(facts.size, mostBytes));
    const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
    return { bytes: bytes.subarray(0, bytesRead), sizeBytes: facts.size };
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return null;
    throw explained(error, path);
  }
}

/**
 * Puts a whole file in place: written beside the old one and renamed, so that no reader sees half of it. No symbolic
 * link is followed on the way, even if one was put there a moment ago.
 */
export async function writeInside(path: WorkspacePath, content: Buffer, nonce: string): Promise<void> {
  try {
    await using directory = await openDirectory(path, true);
    const name = path.segments.at(-1);
    if (name === undefined) throw new PawlError('invalid_input', 'The workspace itself is not a file.');
    const temporary = directory.entry(`.${name.slice(0, 100)}.${nonce}.tmp`);
    try {
      const mode = await modeOf(directory.entry(name));
      const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
      await using file = await open(temporary, flags, mode ?? 0o666);
      await file.writeFile(content);
      if (mode !== null) await file.chmod(mode);
      await rename(temporary, directory.entry(name));
    } catch (error) {
      await unlink(temporary).catch(() => {});
      throw error;
    }
  } catch (error) {
    throw explained(error, path);
  }
}

/** The permissions of an existing file; null if there is none. */
async function modeOf(entry: string): Promise<number | null> {
  try {
    await using file = await open(entry, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const facts = await file.stat();
    if (!facts.isFile()) throw new PawlError('invalid_input', 'There is something else than a file.');
    return facts.mode & 0o777;
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return null;
    throw error;
  }
}

type OpenDirectory = { entry(name: string): string } & AsyncDisposable;

const throughDescriptors = process.platform === 'linux';

/**
 * Opens the directory of a path, one component after the other, each without following a link. An entry is then named
 * by the open directory and not by its path, so exchanging a component has no effect. Without /proc, it compares the
 * real path after opening.
 */
async function openDirectory({ root, segments }: WorkspacePath, create: boolean): Promise<OpenDirectory> {
  const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
  let path = root;
  let handle: FileHandle = await open(root, flags);
  const entry = (name: string) => (throughDescriptors ? `/proc/self/fd/${handle.fd}/${name}` : join(path, name));
  try {
    for (const segment of segments.slice(0, -1)) {
      const next = await openNext(entry(segment), flags, create);
      await handle.close();
      handle = next;
      path = join(path, segment);
    }
    if (!throughDescriptors) await checkPlace(path, handle);
  } catch (error) {
    await handle.close();
    throw error;
  }
  return { entry, [Symbol.asyncDispose]: () => handle.close() };
}

async function openNext(entry: string, flags: number, create: boolean): Promise<FileHandle> {
  try {
    return await open(entry, flags);
  } catch (error) {
    if (!create || !hasErrno(error, 'ENOENT')) throw error;
    await mkdir(entry).catch((made: unknown) => {
      if (!hasErrno(made, 'EEXIST')) throw made;
    });
    return await open(entry, flags);
  }
}

async function checkPlace(path: string, handle: FileHandle): Promise<void> {
  const [named, opened, real] = await Promise.all([stat(path), handle.stat(), realpath(path)]);
  if (real !== path || named.ino !== opened.ino || named.dev !== opened.dev) {
    throw new PawlError('conflict', 'A directory on the way was exchanged.');
  }
}

function explained(error: unknown, { shown }: WorkspacePath): unknown {
  if (hasErrno(error, 'ELOOP')) {
    return new PawlError('conflict', `${shown} became a symbolic link meanwhile; nothing was done.`, { cause: error });
  }
  if (hasErrno(error, 'ENOTDIR')) {
    return new PawlError('conflict', `A part of ${shown} is not a directory; nothing was done.`, { cause: error });
  }
  return error;
}

/** Refuses content that is too large for Write and Edit. */
export function refuseLarge(sizeBytes: number, shown: string): void {
  if (sizeBytes > engineLimits.fileBytes) {
    throw new PawlError('too_large', `${shown} has more than ${engineLimits.fileBytes} bytes.`, {
      hint: 'Change it with a command instead.',
    });
  }
}
