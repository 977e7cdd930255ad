import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inflate } from 'node:zlib';
import { gitLimits } from './limit.ts';
import { readPlainFile, readPointer } from './pointer-file.ts';
import type { Repository } from './repository.ts';

const inflated = promisify(inflate);

/**
 * The commit of a branch whose ref and commit both lie in files of their own, as they do after a commit or a merge; null
 * when only git can tell. The daemon asks for the same few tips all the time, and a git process for each would be most of its work.
 * A file of its own wins over `packed-refs` in git, too. The commit is read whole and its id recomputed, because a ref that
 * points to a missing or damaged commit is no branch.
 */
export async function looseBranchTip(
  { commonDir, objectFormat }: Pick<Repository, 'commonDir' | 'objectFormat'>,
  name: string,
): Promise<string | null> {
  const commit = await readPointer(join(commonDir, 'refs', 'heads', name)).catch(() => null);
  const idLength = objectFormat === 'sha1' ? 40 : 64;
  if (commit === null || commit.length !== idLength || !/^[0-9a-f]+$/.test(commit)) return null;
  const path = join(commonDir, 'objects', commit.slice(0, 2), commit.slice(2));
  const stored = await readPlainFile(path, gitLimits.commitBytes).catch(() => null);
  if (stored === null) return null;
  const object = await inflated(stored, { maxOutputLength: gitLimits.commitBytes }).catch(() => null);
  if (object === null || object.toString('latin1', 0, 7) !== 'commit ') return null;
  return createHash(objectFormat).update(object).digest('hex') === commit ? commit : null;
}
