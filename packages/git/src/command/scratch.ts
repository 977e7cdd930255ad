import { lstat, mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { gitLimits } from './limit.ts';

const prefix = 'pawl-scratch-';

/** Provides a temporary directory inside Pawl's git directory, removed afterwards. */
export async function withScratch<T>(ownDir: string, act: (scratch: string) => Promise<T>): Promise<T> {
  await removeAbandoned(ownDir);
  const scratch = await mkdtemp(join(ownDir, prefix));
  try {
    return await act(scratch);
  } finally {
    await rm(scratch, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** A killed daemon leaves its scratch directories behind; none is in use for a whole day. */
async function removeAbandoned(ownDir: string): Promise<void> {
  for (const name of await readdir(ownDir)) {
    if (!name.startsWith(prefix)) continue;
    const path = join(ownDir, name);
    const info = await lstat(path).catch(() => null);
    if (info !== null && Date.now() - info.mtimeMs > gitLimits.scratchMs)
      await rm(path, { recursive: true, force: true });
  }
}
