import { resolve } from 'node:path';
import { hostLimits } from '../host-limit.ts';
import type { ProcessIdentity } from '../process/identity.ts';
import { isAlive, parseIdentity } from '../process/identity.ts';
import { processTable } from '../process/process-table.ts';
import { createPauses } from '../wait.ts';
import { exists, readSmallFile, sessionFile } from './session-files.ts';

/** The state of a session directory, verified against running processes. */
export type FoundSession = {
  /** The shim, dead or alive; null if none ever claimed the directory or the record is not credible. */
  identity: ProcessIdentity | null;
  /**
   * True if the shim was running. Checked before the exit file: a session that is not alive and has no exit will never
   * have one. Calling `isAlive` afterwards instead would miss an exit written in between.
   */
  alive: boolean;
  /** The command's pid while it runs. */
  childPid: number | null;
  /** The command's exit, once the shim has recorded it. */
  exit: { code: number } | null;
  /** True once a shim has claimed the directory: the command was started or never will be. */
  claimed: boolean;
};

function readText(dir: string, name: 'pid' | 'child' | 'exit'): string | null {
  return readSmallFile(sessionFile(dir, name), hostLimits.identityFileBytes);
}

/**
 * Verifies the recorded shim. A record of a living process counts only if that process runs the shim of this directory;
 * a record of a dead one is harmless, since nothing will match it again. An exiting process has no command line, and is
 * polled until it has ended.
 */
async function believeShim(dir: string, text: string): Promise<ProcessIdentity | null> {
  const identity = parseIdentity(text);
  if (identity === null) return null;
  const pause = createPauses();
  for (let times = 0; times < hostLimits.lookAgainTimes; times += 1) {
    if (!isAlive(identity)) return identity;
    const ours = processTable.runsScript(identity.pid, sessionFile(dir, 'shim.sh'));
    if (ours !== null) return ours ? identity : null;
    await pause();
  }
  return null;
}

/** The recorded command while it runs, only if it is the shim's child or in the shim's group. */
function believeChild(shim: ProcessIdentity, text: string): ProcessIdentity | null {
  const child = parseIdentity(text);
  if (child === null) return null;
  const entry = processTable.read(child.pid);
  if (entry === null || entry.defunct || entry.start !== child.start) return null;
  return entry.parent === shim.pid || entry.group === shim.pid ? child : null;
}

/** The command of a session while it runs. */
export function findChild(dir: string, shim: ProcessIdentity): ProcessIdentity | null {
  const text = readText(dir, 'child');
  return text === null ? null : believeChild(shim, text);
}

/** True once the command is recorded. Before that it cannot be told from a helper of the shim. */
export function isChildRecorded(dir: string): boolean {
  return readText(dir, 'child') !== '';
}

/** Reads a session directory without trusting it. */
export async function findSession(directory: string): Promise<FoundSession> {
  const dir = resolve(directory);
  const claimed = exists(sessionFile(dir, 'pid'));
  const pidText = readText(dir, 'pid');
  const identity = pidText === null ? null : await believeShim(dir, pidText);
  const alive = identity !== null && isAlive(identity);
  const child = identity === null ? null : findChild(dir, identity);
  const exitText = readText(dir, 'exit');
  const exit = /^(\d{1,3}) *\n[ \n]*$/.exec(exitText ?? '');
  return {
    identity,
    alive,
    childPid: child?.pid ?? null,
    exit: exit === null ? null : { code: Number(exit[1]) },
    claimed,
  };
}
