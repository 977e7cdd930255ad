import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** All directories of a run together stay well below this. */
const neededBytes = 4 * 1024 ** 3;

/**
 * Makes a temporary directory in a file system that is kept in memory, where a commit costs no wait for a disk. Returns
 * null where there is none, it is too small, or it does not let programs run.
 */
export function memoryDirectory(parent: string): string | null {
  let path: string | null = null;
  try {
    const { bavail, bsize } = statfsSync(parent);
    if (bavail * bsize < neededBytes) return null;
    path = mkdtempSync(join(parent, 'pawl-'));
    // Some tests become another user, who must have access, too.
    chmodSync(path, 0o711);
    const program = join(path, 'program');
    writeFileSync(program, '#!/bin/sh\n', { mode: 0o700 });
    execFileSync(program);
    rmSync(program);
    return path;
  } catch {
    if (path !== null) rmSync(path, { recursive: true, force: true });
    return null;
  }
}
