import { hasErrno, PawlError } from '@pawl/schema/error';
import type { Dirent } from 'node:fs';
import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { mkdir, open, readdir, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { accountLimits } from './account-limit.ts';

type Budget = { bytes: number; entries: number };

/**
 * Copies a CLI's settings and login. Takes only plain files and directories: skips symbolic links, which could lead
 * anywhere, and refuses FIFOs and devices. Leaves conversations and caches behind. Only its owner can read the copy.
 */
export async function copyConfigDirectory(from: string, to: string): Promise<void> {
  const source = await existingDirectory(from);
  if (`${to}${sep}`.startsWith(source === sep ? sep : `${source}${sep}`)) {
    throw new PawlError('invalid_input', `${from} contains its own destination.`, {
      hint: 'Name the config directory of the CLI itself, such as ~/.claude.',
    });
  }
  const budget = { bytes: accountLimits.directoryBytes, entries: accountLimits.directoryEntries };
  await copyInto(source, to, budget, accountLimits.directoryDepth, leftBehind);
}

async function existingDirectory(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (!hasErrno(error, 'ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES')) throw error;
    throw new PawlError('not_found', `There is no directory ${path}.`, {
      hint: 'Name the config directory of the CLI.',
    });
  }
}

/** Data that CLIs store beside their settings: conversations, logs and caches. */
const leftBehind = ['projects', 'sessions', 'history.jsonl', 'todos', 'debug', 'logs', 'log', 'cache', 'tmp'].concat([
  'shell-snapshots',
  'file-history',
  'statsig',
]);

async function copyInto(
  from: string,
  to: string,
  budget: Budget,
  depth: number,
  except: readonly string[] = [],
): Promise<void> {
  if (depth === 0) throw tooLarge(`more than ${accountLimits.directoryDepth} levels deep`);
  await mkdir(to, { recursive: true, mode: 0o700 });
  for (const entry of await entriesOf(from)) {
    if (entry.isSymbolicLink() || except.includes(entry.name)) continue;
    budget.entries -= 1;
    if (budget.entries < 0) throw tooLarge(`more than ${accountLimits.directoryEntries} files`);
    const source = join(from, entry.name);
    const target = join(to, entry.name);
    if (entry.isDirectory()) await copyInto(source, target, budget, depth - 1);
    else if (entry.isFile()) await copyFile(source, target, budget);
    else throw notPlain(source);
  }
}

async function entriesOf(path: string): Promise<Dirent[]> {
  try {
    return await readdir(path, { withFileTypes: true });
  } catch (error) {
    if (hasErrno(error, 'ENOTDIR')) throw new PawlError('invalid_input', `${path} is not a directory.`);
    throw error;
  }
}

async function copyFile(from: string, to: string, budget: Budget): Promise<void> {
  // It may have been replaced since it was listed.
  let source: FileHandle;
  try {
    source = await open(from, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (hasErrno(error, 'ELOOP', 'ENXIO')) throw notPlain(from);
    throw error;
  }
  try {
    const stat = await source.stat();
    if (!stat.isFile()) throw notPlain(from);
    const target = await open(to, 'wx', 0o600 | (stat.mode & 0o100));
    try {
      budget.bytes = await copyBytes(source, target, budget.bytes);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

const blockBytes = 256 * 1024;

/** Copies a file that may grow meanwhile; returns how many more bytes may be copied. */
async function copyBytes(source: FileHandle, target: FileHandle, left: number): Promise<number> {
  const block = Buffer.allocUnsafe(blockBytes);
  for (let room = left; ;) {
    const { bytesRead } = await source.read(block, 0, blockBytes, null);
    if (bytesRead === 0) return room;
    room -= bytesRead;
    if (room < 0) throw tooLarge(`more than ${accountLimits.directoryBytes / 1024 / 1024} MB`);
    await target.writeFile(block.subarray(0, bytesRead));
  }
}

function tooLarge(what: string): PawlError {
  return new PawlError('too_large', `The config directory has ${what}.`, {
    hint: 'Create one with only the login and the settings, and pass that.',
  });
}

function notPlain(path: string): PawlError {
  return new PawlError('invalid_input', `${path} is a symbolic link or not a plain file, and is not copied.`, {
    hint: 'Create a config directory of plain files, and pass that.',
  });
}
