import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type TemporaryDirectory = { path: string } & AsyncDisposable;

/** A fresh directory under its real path; `await using` removes it, with everything in it, at the end of the scope. */
export async function temporaryDirectory(name = 'pawl-test', parent = tmpdir()): Promise<TemporaryDirectory> {
  const path = await realpath(await mkdtemp(join(parent, `${name}-`)));
  return {
    path,
    // A process that is just ending may still write; a few tries outlast it.
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }),
  };
}
