import type { Dirent } from 'node:fs';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { hasErrno } from '@pawl/schema/error';
import { gitLimits } from '../command/limit.ts';
import { readPointer } from './pointer-file.ts';

const objectId = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/**
 * The refs below a prefix such as `refs/heads/work/`, by name, without a git process. Null when only git can tell: the repository
 * keeps its refs in another format, has many packed ones, or has a ref that is a link, another name, or damaged.
 */
export async function looseRefs(commonDir: string, prefix: string): Promise<Map<string, string> | null> {
  if (existsSync(join(commonDir, 'reftable'))) return null;
  const packed = await packedRefs(commonDir, prefix);
  if (packed === null) return null;
  const refs = new Map(packed);
  const folders = [prefix.replace(/\/$/, '')];
  let left: number = gitLimits.looseRefs;
  for (let folder = folders.shift(); folder !== undefined; folder = folders.shift()) {
    for (const entry of await entriesOf(join(commonDir, folder))) {
      left -= 1;
      const name = `${folder}/${entry.name}`;
      if (entry.isDirectory()) folders.push(name);
      else if (entry.name.endsWith('.lock')) continue;
      else {
        const commit = left < 0 || !entry.isFile() ? null : await readPointer(join(commonDir, name));
        if (commit === null || !objectId.test(commit)) return null;
        refs.set(name, commit);
      }
    }
  }
  return new Map([...refs].toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

async function packedRefs(commonDir: string, prefix: string): Promise<[string, string][] | null> {
  const path = join(commonDir, 'packed-refs');
  if (!existsSync(path)) return [];
  const text = await readPointer(path, gitLimits.packedRefsBytes);
  if (text === null) return null;
  const refs: [string, string][] = [];
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#') || line.startsWith('^')) continue;
    const [, commit = '', name = ''] = /^([0-9a-f]{40,64}) (refs\/.+)$/.exec(line) ?? [];
    if (!objectId.test(commit)) return null;
    if (name.startsWith(prefix)) refs.push([name, commit]);
  }
  return refs;
}

async function entriesOf(path: string): Promise<Dirent[]> {
  try {
    return await readdir(path, { withFileTypes: true });
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR')) return [];
    throw error;
  }
}
