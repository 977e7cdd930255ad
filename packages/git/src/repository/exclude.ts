import { randomBytes } from 'node:crypto';
import { lstat, mkdir, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { hasErrno, PawlError } from '@pawl/schema/error';
import { gitLimits } from '../command/limit.ts';
import { withLock } from '../command/lock.ts';
import type { Repository } from './repository.ts';

/** Adds missing patterns to the repository's `info/exclude`, which is never committed. */
export async function keepOutOfCommits(repository: Repository, patterns: readonly string[]): Promise<void> {
  for (const pattern of patterns) {
    if (!/^[\w./*?[\]!#@+,=~ -]+$/.test(pattern)) throw new Error(`not a pattern for one line: ${pattern}`);
  }
  await withLock(`exclude:${repository.commonDir}`, async () => {
    const file = await resolveExclude(repository.commonDir);
    const text = file.exists ? await readBounded(file.path) : '';
    const present = new Set(text.split('\n').map((line) => line.trimEnd()));
    const missing = patterns.filter((pattern) => !present.has(pattern));
    if (missing.length === 0) return;
    if (!file.isInside) throw leadsOutside(file.path, missing);
    const start = text === '' || text.endsWith('\n') ? text : `${text}\n`;
    await replaceFile(file.path, `${start}${missing.join('\n')}\n`, file.exists);
  });
}

/** The real location of the exclude file, and whether that is inside the git directory. */
async function resolveExclude(commonDir: string): Promise<{ path: string; exists: boolean; isInside: boolean }> {
  const info = join(commonDir, 'info');
  await mkdir(info, { recursive: true });
  const directory = await realpath(info);
  const path = join(directory, 'exclude');
  const link = await lstat(path).catch((error: unknown) => {
    if (hasErrno(error, 'ENOENT')) return null;
    throw error;
  });
  if (link === null) return { path, exists: false, isInside: isWithin(commonDir, path) };
  const target = await realpath(path).catch(() => null);
  if (target === null || !(await stat(target)).isFile()) throw leadsOutside(path, []);
  return { path: target, exists: true, isInside: isWithin(commonDir, target) };
}

function isWithin(directory: string, path: string): boolean {
  return path.startsWith(directory + sep);
}

function leadsOutside(path: string, missing: readonly string[]): PawlError {
  return new PawlError('conflict', `The repository's info/exclude points to ${path}, which Pawl does not write.`, {
    hint: `Add these lines to it yourself: ${missing.join(' ') || '(it must be a plain file)'}`,
    details: { path, missing },
  });
}

async function readBounded(path: string): Promise<string> {
  const { size } = await stat(path);
  if (size <= gitLimits.excludeBytes) return readFile(path, 'utf8');
  throw new PawlError('too_large', `${path} is larger than ${gitLimits.excludeBytes} bytes.`, {
    hint: 'Make it smaller.',
  });
}

async function replaceFile(path: string, text: string, exists: boolean): Promise<void> {
  const mode = exists ? (await stat(path)).mode & 0o777 : 0o644;
  const draft = join(dirname(path), `exclude.${randomBytes(6).toString('hex')}.draft`);
  try {
    const file = await open(draft, 'wx', mode);
    try {
      await file.chmod(mode);
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
