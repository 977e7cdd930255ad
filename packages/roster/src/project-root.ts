import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { canonical } from './roster.ts';

/** The project around a path: the nearest directory upwards with a `.git`, or the path itself where there is none. */
export function projectRoot(path: string): string {
  const start = canonical(resolve(path));
  // Whoever mistyped a path does not mean the project around it.
  if (start === null) return resolve(path);
  for (let directory = start; ; directory = dirname(directory)) {
    if (existsSync(join(directory, '.git'))) return directory;
    if (directory === dirname(directory)) return start;
  }
}
