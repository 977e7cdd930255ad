import type { Stats } from 'node:fs';
import { lstat, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readExcludesFile } from '../command/command.ts';
import type { Repository } from './repository.ts';

/**
 * Arguments that make `ls-files` ignore what the user's own git ignores: `.gitignore` files, and the user's patterns
 * outside of the work tree. Pattern files are only read, never run.
 */
export async function exclusionsOf(repository: Repository): Promise<string[]> {
  const named = await readExcludesFile(repository.commonDir);
  const local = join(repository.commonDir, 'info', 'exclude');
  const [isNamed, isLocal] = await Promise.all([isFile(stat(named ?? '')), isFile(lstat(local))]);
  // If the two disagree, the later one wins.
  return [
    '--exclude-standard',
    ...(isNamed ? [`--exclude-from=${named}`] : []),
    ...(isLocal ? [`--exclude-from=${local}`] : []),
  ];
}

async function isFile(info: Promise<Stats>): Promise<boolean> {
  return info.then(
    (found) => found.isFile(),
    () => false,
  );
}
