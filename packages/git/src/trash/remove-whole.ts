import { chmod, lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { hasErrno } from '@pawl/schema/error';

/** Removes a directory or file recursively. Follows no link; makes read-only directories writable first. */
export async function removeWhole(path: string): Promise<void> {
  try {
    await removeNow(path);
  } catch (error) {
    if (!hasErrno(error, 'EACCES', 'EPERM')) throw error;
    await openDirectories(path);
    await removeNow(path);
  }
}

function removeNow(path: string): Promise<void> {
  // An exiting process may still write there.
  return rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
}

async function openDirectories(path: string): Promise<void> {
  const info = await lstat(path);
  if (!info.isDirectory()) return;
  await chmod(path, 0o700);
  for (const entry of await readdir(path, { withFileTypes: true })) {
    if (entry.isDirectory()) await openDirectories(join(path, entry.name));
  }
}
