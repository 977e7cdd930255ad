import { createHash, randomUUID } from 'node:crypto';
import { existsSync, constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { link, mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { createInflate } from 'node:zlib';
import { hasErrno } from '@pawl/schema/error';
import { gitLimits } from '../command/limit.ts';

/**
 * Copies a loose object from an untrusted writer to another object directory, unless it is there. False if its content
 * does not have this id. The bytes that are hashed are those that are written, whatever its owner does meanwhile.
 */
export async function copyLooseObject(fromDir: string, toDir: string, id: string): Promise<boolean> {
  const [folder, name] = [id.slice(0, 2), id.slice(2)];
  const path = join(toDir, folder, name);
  if (existsSync(path)) return true;
  const source = await openPlain(join(fromDir, folder, name));
  if (source === null) return false;
  await mkdir(join(toDir, folder), { recursive: true });
  // Git ignores files of this name after a crash, and `git gc` removes them.
  const draft = join(toDir, folder, `tmp_obj_${randomUUID()}`);
  try {
    const target = await open(draft, 'wx', 0o444);
    try {
      if ((await copyHashed(source, target, id.length === 40 ? 'sha1' : 'sha256')) !== id) return false;
      await target.sync();
    } finally {
      await target.close();
    }
    await link(draft, path).catch((error: unknown) => {
      if (!hasErrno(error, 'EEXIST')) throw error;
    });
    return true;
  } finally {
    await source.close().catch(() => undefined);
    await rm(draft, { force: true });
  }
}

/** Opens a plain file of bounded size, never through a link. */
async function openPlain(path: string): Promise<FileHandle | null> {
  let file;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ELOOP', 'ENXIO', 'EISDIR', 'EACCES')) return null;
    throw error;
  }
  const info = await file.stat();
  if (info.isFile() && info.size <= gitLimits.foreignObjectBytes) return file;
  await file.close();
  return null;
}

/** Copies a compressed object, and returns the hash of its content; null if it is damaged or too large. */
async function copyHashed(source: FileHandle, target: FileHandle, format: 'sha1' | 'sha256'): Promise<string | null> {
  const hash = createHash(format);
  const inflate = createInflate();
  let [bytes, inflated] = [0, 0];
  inflate.on('data', (part: Buffer) => {
    inflated += part.length;
    if (inflated > gitLimits.foreignContentBytes) inflate.destroy(new Error('the object is too large'));
    else hash.update(part);
  });
  const done = finished(inflate).then(
    () => true,
    () => false,
  );
  for await (const part of source.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > gitLimits.foreignObjectBytes || inflate.destroyed) break;
    await target.writeFile(part);
    inflate.write(part);
  }
  inflate.end();
  // Bytes after the compressed content belong to no object.
  return (await done) && inflate.bytesWritten === bytes ? hash.digest('hex') : null;
}
