import { processTable } from './process-table.ts';

/** Identifies a process: a pid alone may be reused. The pid of a shim is also its process group's id. */
export type ProcessIdentity = { pid: number; start: string };

/** True while exactly this process runs: the pid exists, started when ours did, and is not a zombie. */
export function isAlive(identity: ProcessIdentity): boolean {
  const entry = processTable.read(identity.pid);
  return entry !== null && !entry.defunct && entry.start === identity.start;
}

/** Parses a shim's record of itself or its command; null for anything partial or foreign. */
export function parseIdentity(text: string): ProcessIdentity | null {
  const [pidLine = '', boot = '', detail = '', rest] = text.split('\n');
  if (rest === undefined || !/^[1-9]\d{0,9}$/.test(pidLine)) return null;
  const pid = Number(pidLine);
  // None of ours is the init process, and a signal to pid 1 or to ourselves would be a disaster.
  if (pid <= 1 || pid === process.pid) return null;
  const start = processTable.parseStart(pid, boot, detail);
  return start === null ? null : { pid, start };
}

/** Signals exactly this process. False if it is gone, is another one by now, or is ourselves. */
export function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals): boolean {
  if (identity.pid <= 1 || identity.pid === process.pid || !isAlive(identity)) return false;
  try {
    return process.kill(identity.pid, signal);
  } catch {
    return false;
  }
}
