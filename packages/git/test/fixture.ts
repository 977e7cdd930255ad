import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { PawlError } from '@pawl/schema/error';
import { onTestFinished } from 'vitest';

/** A directory of this test's own, removed when it ends. */
export function temporaryDirectory(parent = tmpdir()): string {
  const directory = realpathSync(mkdtempSync(join(parent, 'pawl-git-')));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Plain git, as a person runs it, without this machine's config. */
export function git(cwd: string, ...args: string[]): string {
  return execFileSync('git', args, {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    env: personEnvironment,
  });
}

export const personEnvironment = {
  PATH: process.env['PATH'] ?? '',
  HOME: '/nonexistent',
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'person',
  GIT_AUTHOR_EMAIL: 'person@example.org',
  GIT_COMMITTER_NAME: 'person',
  GIT_COMMITTER_EMAIL: 'person@example.org',
};

/** Writes files below a directory. */
export function write(directory: string, files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), text);
  }
}

/** Makes a repository with one commit and returns its root. */
export function makeRepository(
  root: string,
  files: Record<string, string> = { 'readme.md': 'hello\n', 'src/a.ts': 'a\n' },
): string {
  mkdirSync(root, { recursive: true });
  git(root, 'init', '--quiet', '--initial-branch=main');
  write(root, files);
  commitAll(root, 'first');
  return root;
}

/** Commits all that there is and returns the commit. */
export function commitAll(root: string, message: string): string {
  git(root, 'add', '--all');
  git(root, 'commit', '--quiet', '--allow-empty', '--message', message);
  return git(root, 'rev-parse', 'HEAD').trim();
}

/** A hash per file below a directory, so that two moments can be compared byte by byte. */
export function snapshot(root: string, ignore: (path: string) => boolean = () => false): Record<string, string> {
  const found: Record<string, string> = {};
  const visit = (directory: string): void => {
    for (const name of readdirSync(directory).sort()) {
      const path = join(directory, name);
      const info = lstatSync(path);
      if (ignore(relative(root, path))) continue;
      if (info.isDirectory()) visit(path);
      else if (info.isSymbolicLink()) found[relative(root, path)] = readlinkSync(path);
      else found[relative(root, path)] = createHash('sha256').update(readFileSync(path)).digest('hex') + info.mode;
    }
  };
  visit(root);
  return found;
}

/** What a thrown PawlError said, as `code: message → hint`, or the unexpected outcome. */
export async function refusal(work: Promise<unknown>): Promise<string> {
  try {
    return `no refusal but ${JSON.stringify(await work)}`;
  } catch (error) {
    if (error instanceof PawlError) return `${error.code}: ${error.message} → ${error.hint}`;
    throw error;
  }
}

/**
 * Puts a `git` before the real one that writes down when each command begins (`+ words`) and ends (`- words`), and
 * returns the lines so far. It is how a test sees what this package runs.
 */
export function traceGit(): () => string[] {
  const directory = temporaryDirectory();
  const log = join(directory, 'calls');
  const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
  writeFileSync(log, '');
  const note = (sign: string) => `printf '%s\\n' "${sign} $*" >>'${log}'`;
  const script = `#!/bin/sh\n${note('+')}\n'${real}' "$@"\ncode=$?\n${note('-')}\nexit $code\n`;
  writeFileSync(join(directory, 'git'), script, { mode: 0o755 });
  const path = process.env['PATH'];
  process.env['PATH'] = `${directory}:${path}`;
  onTestFinished(() => {
    process.env['PATH'] = path;
  });
  return () => readFileSync(log, 'utf8').split('\n').slice(0, -1);
}

/** The commands that were begun, as traced. */
export function recordGit(): () => string[] {
  const lines = traceGit();
  return () => lines().filter((line) => line.startsWith('+ '));
}
