import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import type { FSWatcher } from 'node:fs';
import { rmSync, watch } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { messageOf, PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import { groupBase, groupFor, makeGroup } from './control-group.ts';
import { findSession } from './find-session.ts';
import { hostLimits } from '../host-limit.ts';
import type { ProcessIdentity } from '../process/identity.ts';
import type { LaunchSpec } from '@pawl/schema/launch-spec';
import type { Host } from '../host.ts';
import { checkMarker, markerVariable } from './marker.ts';
import type { GroupLimits } from './limit-group.ts';
import { enableControllers, limitTogether } from './limit-group.ts';
import { exists, prepareSession, sessionFile, writeWhole } from './session-files.ts';

export type SessionSpec = {
  /** The session's own directory; created here. */
  dir: string;
  launch: LaunchSpec;
  /** A unique name for this session; every descendant carries it, so that strays can be found. */
  marker: string;
  /** The first input on the command's stdin. */
  prompt: string;
  /** `fifo`: stdin stays open for `sendInput`. `file`: stdin is the prompt, then EOF. */
  stdin: 'fifo' | 'file';
  /** The POSIX shell that runs the shim. */
  shell?: string;
  /** How long the shim may take to appear. */
  startMs?: number;
  /** The parent of its control group; null for none. Default: the usual one. */
  groupBase?: string | null;
};

/**
 * Finds what could not reach the command unchanged. A POSIX shell drops variables with unusable names, and takes a
 * command that begins with `-` for an option.
 */
function findProblem(spec: SessionSpec): string | null {
  const { command, arguments: words, environment, directories } = spec.launch;
  if (command === '' || command.startsWith('-')) return `${JSON.stringify(command)} is not a command`;
  if (!isAbsolute(spec.dir) || !isAbsolute(directories.working))
    return 'the directories of a session must be absolute paths';
  const texts = [spec.dir, directories.working, command, ...words, ...Object.values(environment)];
  if (texts.some((word) => word.includes('\0'))) return 'a command and its environment cannot contain a NUL character';
  const name = Object.keys(environment).find((name) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name));
  return name === undefined ? null : `a shell cannot pass on the variable ${JSON.stringify(name)}`;
}

function checkSpec(spec: SessionSpec): void {
  checkMarker(spec.marker);
  const problem = findProblem(spec);
  if (problem === null) return;
  throw new PawlError('invalid_input', problem, { hint: 'Correct the command or the environment of the provider.' });
}

function startFailed(spec: SessionSpec, reason: string, cause?: unknown): PawlError {
  const tooLong = reason.includes('E2BIG');
  return new PawlError('host_failed', `Could not start ${spec.launch.command}: ${reason}.`, {
    hint: tooLong
      ? 'Its arguments and environment are larger than the system allows: pass long text in the prompt instead.'
      : `Check the free disk space, the limits on processes and files, and that ${spec.dir} can be written.`,
    details: { dir: spec.dir, command: spec.launch.command },
    cause,
  });
}

/** Starts the shim in its own session and process group. */
function spawnShim(spec: SessionSpec, dir: string, record: string): ChildProcess {
  const shell = spec.shell ?? '/bin/sh';
  const { command, arguments: words, environment, directories } = spec.launch;
  try {
    return spawn(
      shell,
      [sessionFile(dir, 'shim.sh'), spec.stdin, shell, record, directories.working, command, ...words],
      {
        cwd: dir,
        env: { ...environment, [markerVariable]: spec.marker },
        stdio: 'ignore',
        detached: true,
      },
    );
  } catch (error) {
    throw startFailed(spec, messageOf(error), error);
  }
}

/** Watches the directory; without file events (their number is limited) the caller must poll. */
function watchQuietly(dir: string, onChange: () => void): FSWatcher | null {
  try {
    return watch(dir, { persistent: false }, onChange).on('error', () => undefined);
  } catch {
    return null;
  }
}

function joinableGroup({ marker, groupBase: base = groupBase() }: SessionSpec): string | null {
  return base === null || base.includes('\n') ? null : groupFor(base, marker);
}

/** The groups with limits that the shim joins beside its own, one in each line. */
function limitsOf({ marker }: SessionSpec, group: string | null, limits: GroupLimits): string {
  if (group !== null) enableControllers(dirname(group));
  return limitTogether(group, marker, limits)
    .join.map((path) => `${path}\n`)
    .join('');
}

/** Starts a shim and waits for the pid file. Rejects if it ends without one, or takes too long. */
async function startShim(spec: SessionSpec, dir: string): Promise<void> {
  const group = joinableGroup(spec);
  const record = prepareSession(dir, { prompt: spec.prompt, group });
  // Write the record first, so that every created group can be found again.
  if (group !== null) makeGroup(group);
  if (spec.launch.sandbox !== null) writeWhole(dir, 'limits', limitsOf(spec, group, spec.launch.sandbox.limits));
  const { promise, resolve: claimed, reject } = Promise.withResolvers<void>();
  const look = () => {
    if (exists(sessionFile(dir, 'pid'))) claimed();
  };
  const watcher = watchQuietly(dir, look);
  const poll = setInterval(look, hostLimits.lookAgainMaxMs);
  const startMs = spec.startMs ?? limits.shimStartMs;
  const limit = setTimeout(() => reject(startFailed(spec, `no sign of life within ${startMs} ms`)), startMs);
  try {
    const shim = spawnShim(spec, dir, record);
    shim.on('error', (error) => reject(startFailed(spec, messageOf(error), error)));
    shim.on('exit', (code, signal) => {
      // A shim that found the directory claimed exits at once, and a fast one may already be done.
      look();
      reject(startFailed(spec, `the shim ended with ${signal ?? code}`));
    });
    shim.unref();
    await promise;
  } finally {
    clearTimeout(limit);
    clearInterval(poll);
    watcher?.close();
    rmSync(join(dir, record), { force: true });
  }
}

/**
 * Starts a command under a shim, and returns the shim's identity once recorded. The command then runs independently of
 * us. Idempotent per directory, even concurrently or after a crash.
 */
export async function startSession(host: Host, request: SessionSpec): Promise<ProcessIdentity> {
  const spec = { ...request, launch: host.confine(request.launch) };
  checkSpec(spec);
  const dir = resolve(spec.dir);
  return host.starts.run(dir, async () => {
    const before = await findSession(dir);
    if (!before.claimed) {
      await startShim(spec, dir);
    }
    const { identity } = before.claimed ? before : await findSession(dir);
    if (identity !== null) return identity;
    throw damagedRecord(dir);
  });
}

/** A shim claimed the directory, but it is unknown which. */
export function damagedRecord(dir: string): PawlError {
  return new PawlError('host_failed', `The pid file in ${dir} is damaged.`, {
    hint: 'The command may be running. Look for it, and start a new session instead of this one.',
    details: { dir },
  });
}
