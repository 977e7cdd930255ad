import { hasErrno } from '@pawl/schema/error';
import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { link, mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { deflate } from 'node:zlib';
import type { LooseObject } from './loose-object.ts';

const deflated = promisify(deflate);

/** Stores an object in a file of its own, as git does: synced, read-only, and whole or not at all. Returns its id. */
export async function writeLooseObject(
  objectsDir: string,
  { type, content }: LooseObject,
  format: 'sha1' | 'sha256',
): Promise<string> {
  const bytes = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content]);
  const id = createHash(format).update(bytes).digest('hex');
  const folder = join(objectsDir, id.slice(0, 2));
  const path = join(folder, id.slice(2));
  if (existsSync(path)) return id;
  await mkdir(folder, { recursive: true });
  // Git ignores files of this name after a crash, and `git gc` removes them.
  const draft = join(folder, `tmp_obj_${randomUUID()}`);
  const file = await open(draft, 'wx', 0o444);
  try {
    await file.writeFile(await deflated(bytes));
    await file.sync();
    await file.close();
    await link(draft, path).catch((error: unknown) => {
      if (!hasErrno(error, 'EEXIST')) throw error;
    });
  } finally {
    await file.close().catch(() => undefined);
    await rm(draft, { force: true });
  }
  return id;
}
