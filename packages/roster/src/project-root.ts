import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { canonical } from './roster.ts';

/** The project of a path: the nearest ancestor with a `.git`, or the path itself. */
export function projectRoot(path: string): string {
  const start = canonical(resolve(path));
  // A mistyped path does not mean the project around it.
  if (start === null) return resolve(path);
  for (let directory = start; ; directory = dirname(directory)) {
    if (existsSync(join(directory, '.git'))) return directory;
    if (directory === dirname(directory)) return start;
  }
}
