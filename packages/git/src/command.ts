import { existsSync } from 'node:fs';
import { execa } from 'execa';
import { PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import { gitEnvironment, hardenedOptions, withoutForeignConfig } from './hardening.ts';
import { gitLimits } from './limit.ts';
import { createGate } from '@pawl/core/turn-taking';

export type GitOutput = {
  exitCode: number;
  stdout: string;
  stderr: string;
  /** The command printed more than was asked for and was ended; `stdout` is the beginning. */
  truncated: boolean;
};

export type GitOptions = {
  /** Exit codes that are an answer and not a failure, beside 0. */
  answers?: readonly number[];
  /** Where it runs; where git works in any case when left out. */
  cwd?: string;
  maxBytes?: number;
  /** Return the beginning of an output that is too long, instead of failing. */
  mayTruncate?: boolean;
};

/**
 * What may run on the user's repository: nothing that checks files out, compares or filters them, because filters and
 * drivers have names of their own and cannot all be overruled.
 */
const userCommands = new Set(['rev-parse', 'for-each-ref', 'worktree', 'update-ref', 'rev-list', 'symbolic-ref']);

/** Runs git on the user's repository, for its refs and its list of worktrees only. */
export function runInUserRepository(gitDir: string, args: readonly string[], options: GitOptions = {}) {
  const command = args[0] ?? '';
  if (!userCommands.has(command)) throw new Error(`git ${command} must not run on the user's repository`);
  if (args[1] === 'add' && !args.includes('--no-checkout')) throw new Error('worktree add must not check files out');
  return run(options.cwd ?? gitDir, [`--git-dir=${gitDir}`], args, withoutForeignConfig, options);
}

/** Runs git where the user points, to find the repository. Git's own check of who owns it needs the user's config. */
export function runToDiscover(cwd: string, args: readonly string[], options: GitOptions = {}) {
  return run(cwd, [], args, {}, options);
}

/** Runs git without any repository, such as `init`. */
export function runWithoutRepository(cwd: string, args: readonly string[]) {
  return run(cwd, [], args, withoutForeignConfig, {});
}

/** A worktree of the user's repository as seen through Pawl's own git directory. */
export type OwnView = { ownDir: string; objectsDir: string; adminDir: string; path: string };

/**
 * Runs git on the files of a worktree. The index is the worktree's real one; config, hooks and attributes come from
 * Pawl's own directory, and the user's repository only lends its objects. So nothing planted in the user's shared
 * config runs.
 */
export function runOnFiles(view: OwnView, args: readonly string[], options: GitOptions = {}) {
  const environment = {
    ...withoutForeignConfig,
    GIT_COMMON_DIR: view.ownDir,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: quotePath(view.objectsDir),
  };
  return run(view.path, [`--git-dir=${view.adminDir}`, `--work-tree=${view.path}`], args, environment, options);
}

/** Quotes one entry of a colon-separated list in the way git reads it back. */
export function quotePath(path: string): string {
  return `"${path
    .replaceAll('\\', String.raw`\\`)
    .replaceAll('"', String.raw`\"`)
    .replaceAll('\n', String.raw`\n`)}"`;
}

/** However many agents are started at once, the machine is not flooded with processes. */
const throughGate = createGate(gitLimits.processes);

async function run(
  cwd: string,
  place: readonly string[],
  args: readonly string[],
  environment: Record<string, string>,
  options: GitOptions,
): Promise<GitOutput> {
  const result = await throughGate(() =>
    execa('git', [...hardenedOptions, ...place, ...args], {
      cwd,
      env: { ...gitEnvironment(process.env), ...environment },
      extendEnv: false,
      stdin: 'ignore',
      reject: false,
      stripFinalNewline: false,
      timeout: limits.gitMs,
      maxBuffer: options.maxBytes ?? gitLimits.outputBytes,
    }),
  );
  const { stdout, stderr } = result;
  if (result.isMaxBuffer && options.mayTruncate) return { exitCode: 0, stdout, stderr, truncated: true };
  const { exitCode } = result;
  if (exitCode === undefined || result.isMaxBuffer) throw unfinished(args, cwd, result);
  if (exitCode !== 0 && !options.answers?.includes(exitCode)) throw gitFailed(args, exitCode, stderr);
  return { exitCode, stdout, stderr, truncated: false };
}

type Unfinished = { timedOut: boolean; isMaxBuffer: boolean; code?: string; signal?: string; cause?: unknown };

function unfinished(args: readonly string[], cwd: string, result: Unfinished): PawlError {
  const command = commandName(args);
  if (result.code === 'ENOENT' || result.code === 'ENOTDIR') {
    if (!existsSync(cwd)) return new PawlError('not_found', `There is no directory ${cwd}.`, { details: { cwd } });
    return new PawlError('unavailable', 'The program git was not found.', {
      hint: 'Install git 2.32 or newer and make sure that it is in PATH.',
    });
  }
  if (['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM'].includes(result.code ?? '')) {
    return new PawlError(
      'unavailable',
      `${command} could not be started: the system has no room for it (${result.code}).`,
      {
        hint: 'Raise the limit (`ulimit -n` for EMFILE, `ulimit -u` for EAGAIN), or let fewer agents work at once.',
      },
    );
  }
  if (result.timedOut) {
    return new PawlError('timeout', `${command} took longer than ${limits.gitMs} ms and was ended.`, {
      hint: 'Check the disk and the size of the repository, then try again.',
      details: { command },
    });
  }
  const reason = result.isMaxBuffer ? 'printed too much' : `was ended (${result.signal ?? result.code ?? 'unknown'})`;
  return new PawlError('git_failed', `${command} ${reason}.`, {
    hint: 'Try again; if it happens each time, run the same command by hand.',
    details: { command, signal: result.signal ?? null },
    cause: result.cause,
  });
}

function gitFailed(args: readonly string[], exitCode: number, complaint: string): PawlError {
  const command = commandName(args);
  const stderr = withoutControls(complaint).trim().slice(-gitLimits.stderrCharacters);
  const lines = stderr.split('\n');
  const reason = lines.findLast((line) => /^(fatal|error): /.test(line)) ?? lines.at(-1) ?? '';
  return new PawlError('git_failed', `${command} failed with exit code ${exitCode}: ${reason}`, {
    hint: hintFor(stderr),
    details: { command, exitCode, stderr },
  });
}

/** What to do about the failures that people meet. */
function hintFor(stderr: string): string {
  if (/No space left on device|Disk quota exceeded/.test(stderr)) return 'Free some disk space, then try again.';
  if (/Permission denied|Read-only file system/.test(stderr)) return 'Make the named path writable, then try again.';
  if (isHeldLock(stderr)) {
    return 'Another git command holds a lock. Wait for it; when no git runs any more, delete the named .lock file.';
  }
  // Git does not always say why it could not write a file.
  if (/unable to write|could not write|write error/.test(stderr)) {
    return 'Check that the disk has space and that the place is writable, then try again.';
  }
  if (/unable to read|missing blob|bad object|not our ref|transport '.*' not allowed/.test(stderr)) {
    return 'Objects are missing. In a partial clone, run `git fetch --refetch --no-filter`; else run `git fsck`.';
  }
  return 'Run `git fsck` and `git worktree list` in the repository to see whether git itself can read it.';
}

/** True when git gave up because another program was at work in the same repository at this moment. */
export function isHeldLock(stderr: string): boolean {
  return (
    /Unable to create '.*\.lock': File exists/.test(stderr) ||
    /could not lock config file/.test(stderr) ||
    /failed to read .*commondir/.test(stderr) ||
    /could not open '.*\/worktrees\/.*': No such file/.test(stderr)
  );
}

/** What git said, when the error is a failure of git. */
export function complaintOf(error: unknown): string {
  return error instanceof PawlError && typeof error.details['stderr'] === 'string' ? error.details['stderr'] : '';
}

function commandName(args: readonly string[]): string {
  return args[0] === 'worktree' ? `git worktree ${args[1]}` : `git ${args[0]}`;
}

/** File and branch names in git's messages are hostile text; control characters are dropped, newlines kept. */
function withoutControls(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replaceAll(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, ' ');
}
