import { existsSync } from 'node:fs';
import { PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import { gitLimits } from './limit.ts';

/** How a command ended without an answer. */
type Unfinished = { timedOut: boolean; isMaxBuffer: boolean; code?: string; signal?: string; cause?: unknown };

/** Explains a command that could not be started, was ended, or printed too much. */
export function unfinished(args: readonly string[], cwd: string, result: Unfinished): PawlError {
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
      `${command} could not be started: the system is out of resources (${result.code}).`,
      {
        hint: 'Raise the limit (`ulimit -n` for EMFILE, `ulimit -u` for EAGAIN), or run fewer agents at once.',
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
    hint: 'Try again; if it happens every time, run the same command by hand.',
    details: { command, signal: result.signal ?? null },
    cause: result.cause,
  });
}

/** Explains a command that git itself failed. */
export function gitFailed(args: readonly string[], exitCode: number, complaint: string): PawlError {
  const command = commandName(args);
  const stderr = withoutControls(complaint).trim().slice(-gitLimits.stderrCharacters);
  const lines = stderr.split('\n');
  const reason = lines.findLast((line) => /^(fatal|error): /.test(line)) ?? lines.at(-1) ?? '';
  return new PawlError('git_failed', `${command} failed with exit code ${exitCode}: ${reason}`, {
    hint: hintFor(stderr),
    details: { command, exitCode, stderr },
  });
}

/** A hint for common failures. */
function hintFor(stderr: string): string {
  if (/No space left on device|Disk quota exceeded/.test(stderr)) return 'Free some disk space, then try again.';
  if (/Permission denied|Read-only file system/.test(stderr)) return 'Make the named path writable, then try again.';
  if (isHeldLock(stderr)) {
    return 'Another git command holds a lock. Wait for it; if no git is running, delete the named .lock file.';
  }
  // Git does not always say why it could not write a file.
  if (/unable to write|could not write|write error/.test(stderr)) {
    return 'Check that the disk has space and that the path is writable, then try again.';
  }
  if (/unable to read|missing blob|bad object|not our ref|transport '.*' not allowed/.test(stderr)) {
    return 'Objects are missing. In a partial clone, run `git fetch --refetch --no-filter`; otherwise run `git fsck`.';
  }
  return 'Run `git fsck` and `git worktree list` in the repository to see whether git itself can read it.';
}

/** True if git gave up because another program was using the same repository. */
export function isHeldLock(stderr: string): boolean {
  return (
    /Unable to create '.*\.lock': File exists/.test(stderr) ||
    /could not lock config file/.test(stderr) ||
    /failed to read .*commondir/.test(stderr) ||
    /could not open '.*\/worktrees\/.*': No such file/.test(stderr)
  );
}

/** Git's stderr, if the error is a failure of git. */
export function complaintOf(error: unknown): string {
  return error instanceof PawlError && typeof error.details['stderr'] === 'string' ? error.details['stderr'] : '';
}

function commandName(args: readonly string[]): string {
  return args[0] === 'worktree' ? `git worktree ${args[1]}` : `git ${args[0]}`;
}

/** File and branch names in git's messages are hostile text: drops control characters, keeps newlines. */
function withoutControls(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replaceAll(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, ' ');
}
