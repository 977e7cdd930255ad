import { promptLimits } from '@pawl/core/prompts/prompt-limit';
import type { InputView } from '@pawl/protocol/prompts/view';
import { hasErrno, PawlError } from '@pawl/schema/error';
import { directoryOf } from '@pawl/schema/place';
import type { Agent } from '@pawl/schema/record';
import { constants } from 'node:fs';
import { open, opendir, realpath } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { isWithin } from '../definitions/definition-text.ts';

const depthLimit = 4;

type ShownFile = InputView['files'][number];

/**
 * The input files of an agent as they are in its worktree now. The agent can write there, so only regular files inside
 * it are read, and no more than is shown.
 */
export async function agentInputs(agent: Agent): Promise<InputView> {
  const { id, alias } = agent;
  const directory = directoryOf(agent);
  const root = directory === null ? null : await inputDirectory(directory);
  if (root === null) {
    throw new PawlError('not_found', `${alias} has no input files.`, {
      hint: `They are written when it starts, and removed with its worktree: pawl inspect ${alias}`,
    });
  }
  const { paths, more } = await listFiles(root);
  const files: ShownFile[] = [];
  let room: number = promptLimits.shownInputBytes;
  for (const path of paths) {
    const file = await readShown(root, path, room);
    if (file === null) continue;
    files.push(file.shown);
    room -= file.bytesRead;
  }
  return { agentId: id, files, truncated: more || files.some((file) => file.truncated) };
}

async function inputDirectory(worktree: string): Promise<string | null> {
  try {
    const place = await realpath(join(worktree, '.pawl', 'input'));
    return isWithin(await realpath(worktree), place) ? place : null;
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP')) return null;
    throw error;
  }
}

async function listFiles(root: string): Promise<{ paths: string[]; more: boolean }> {
  const paths: string[] = [];
  let entries = 0;
  const visit = async (directory: string, depth: number): Promise<void> => {
    for await (const entry of await opendir(directory)) {
      entries += 1;
      if (entries > promptLimits.shownInputFiles) return;
      const path = join(directory, entry.name);
      if (entry.isFile()) paths.push(relative(root, path));
      else if (entry.isDirectory() && depth < depthLimit) await visit(path, depth + 1);
    }
  };
  await visit(root, 1);
  return { paths: paths.toSorted(), more: entries > promptLimits.shownInputFiles };
}

async function readShown(
  root: string,
  path: string,
  room: number,
): Promise<{ shown: ShownFile; bytesRead: number } | null> {
  try {
    await using file = await open(join(root, path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const { size } = await file.stat();
    const buffer = Buffer.alloc(Math.min(size, room));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
    const truncated = bytesRead < size;
    const content = textOf(buffer.subarray(0, bytesRead), truncated);
    return { shown: { path, bytes: size, content, binary: content === null, truncated }, bytesRead };
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP', 'ENXIO')) return null;
    throw error;
  }
}

/** Decodes bytes; null if they contain a NUL or are not UTF-8. */
function textOf(bytes: Uint8Array, cut: boolean): string | null {
  if (bytes.includes(0)) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: cut });
  } catch {
    return null;
  }
}
