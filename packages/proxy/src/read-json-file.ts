import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { proxyLimits } from './proxy-limit.ts';

/** The content of a small JSON file, never through a symbolic link; null if there is none, or it cannot be read. */
export async function readJsonFile(path: string): Promise<unknown> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stat = await file.stat();
    if (!stat.isFile() || stat.size > proxyLimits.fileBytes) return null;
    return JSON.parse(await file.readFile('utf8')) as unknown;
  } catch {
    // A parse error could quote a secret, so drop it.
    return null;
  }
}
