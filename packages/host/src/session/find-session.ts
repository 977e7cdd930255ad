import { resolve } from 'node:path';
import { hostLimits } from '../host-limit.ts';
import type { ProcessIdentity } from '../process/identity.ts';
import { isAlive, parseIdentity } from '../process/identity.ts';
import { processTable } from '../process/process-table.ts';
import { createPauses } from '../wait.ts';
import { exists, readSmallFile, sessionFile } from './session-files.ts';

/** What a session directory says, checked against the processes that really run. */
export type FoundSession = {
  /** The shim, dead or alive; null when none ever claimed the directory or when the record is not to be believed. */
  identity: ProcessIdentity | null;
  /**
   * True when the shim still ran. This was looked up before the exit file was: a session that is not alive and has no
   * exit will never have one. Asking `isAlive` afterwards instead would miss an exit that was written in between.
   */
  alive: boolean;
  /** The command's pid while it runs. */
  childPid: number | null;
  /** How the command ended, once the shim has recorded it. */
  exit: { code: number } | null;
  /** True once a shim has claimed the directory: the command was started or will never be. */
  claimed: boolean;
};

function readText(dir: string, name: 'pid' | 'child' | 'exit'): string | null {
  return readSmallFile(sessionFile(dir, name), hostLimits.identityFileBytes);
}

/**
 * The recorded shim. A record that names a living process is believed only when that process runs the shim of this
 * directory; one that names a dead process is harmless, since nothing will ever match it again. A process that is just
 * ending has no command line any more, and is looked at again until it has ended.
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

/** The recorded command while it runs, and only when it is the shim's child or still in the shim's group. */
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

/** True from the moment the command is on record. Before that it cannot be told from a helper of the shim. */
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
