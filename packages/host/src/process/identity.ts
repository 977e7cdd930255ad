import { processTable } from './process-table.ts';

/** Which process: a pid alone may name another one tomorrow. The pid of a shim is also its process group's id. */
export type ProcessIdentity = { pid: number; start: string };

/** True while exactly this process runs: the pid exists, began when ours did, and is not a zombie. */
export function isAlive(identity: ProcessIdentity): boolean {
  const entry = processTable.read(identity.pid);
  return entry !== null && !entry.defunct && entry.start === identity.start;
}

/** Reads what a shim wrote about itself or its command; null for anything partial or foreign. */
export function parseIdentity(text: string): ProcessIdentity | null {
  const [pidLine = '', boot = '', detail = '', rest] = text.split('\n');
  if (rest === undefined || !/^[1-9]\d{0,9}$/.test(pidLine)) return null;
  const pid = Number(pidLine);
  // Nothing of ours is the init process, and a signal to "1" or to our own pid would be a disaster.
  if (pid <= 1 || pid === process.pid) return null;
  const start = processTable.parseStart(pid, boot, detail);
  return start === null ? null : { pid, start };
}

/** Sends a signal to exactly this process. False when it is gone, is another one by now, or is ourselves. */
export function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals): boolean {
  if (identity.pid <= 1 || identity.pid === process.pid || !isAlive(identity)) return false;
  try {
    return process.kill(identity.pid, signal);
  } catch {
    return false;
  }
}
