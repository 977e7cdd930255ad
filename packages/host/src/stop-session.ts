import { PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import { findChild } from './find-session.ts';
import { hostLimits } from './host-limit.ts';
import type { ProcessIdentity } from './identity.ts';
import { isAlive, signalProcess } from './identity.ts';
import { checkMarker } from './marker.ts';
import type { ProcessEntry } from './process-table.ts';
import { processTable } from './process-table.ts';
import { sessionFile } from './session-files.ts';
import { markedProcesses } from './stray.ts';
import type { MonotonicClock } from './wait.ts';
import { createPauses, monotonicClock } from './wait.ts';

export type StopRequest = {
  /** The shim, or null when it is not known: then only what carries the marker is stopped. */
  identity: ProcessIdentity | null;
  dir: string;
  marker: string;
  firstSignal?: NodeJS.Signals;
  /** How long processes may take to leave after the first signal, before they are killed. */
  graceMs?: number;
  now?: MonotonicClock;
};

/** The processes of a session: the agent's own, and those of the shim, which leave by themselves afterwards. */
type Family = { workers: ProcessEntry[]; helpers: ProcessEntry[] };

/** Adds the descendants of `roots`, but never goes through ourselves: our other children belong to other sessions. */
function withDescendants(entries: ProcessEntry[], roots: Set<number>): ProcessEntry[] {
  const children = Map.groupBy(entries, (entry) => entry.parent);
  const members = new Set(roots);
  const queue = [...roots];
  for (let pid = queue.pop(); pid !== undefined; pid = queue.pop()) {
    for (const child of children.get(pid) ?? []) {
      if (child.pid === process.pid || members.has(child.pid)) continue;
      members.add(child.pid);
      queue.push(child.pid);
    }
  }
  return entries.filter((entry) => members.has(entry.pid) && !entry.defunct);
}

/**
 * Finds everything that belongs to the session. The process group counts only while its leader, the shim, is certainly
 * ours: afterwards its number may be somebody else's.
 */
function findFamily(request: StopRequest): Family {
  const { identity, dir, marker } = request;
  const child = identity === null ? null : findChild(dir, identity);
  const shim = identity !== null && isAlive(identity) ? identity : null;
  const entries = processTable.list();
  const roots = new Set(markedProcesses(entries, marker, identity ?? undefined).map((entry) => entry.pid));
  if (child !== null) roots.add(child.pid);
  if (shim !== null) {
    roots.add(shim.pid);
    for (const entry of entries) if (entry.group === shim.pid) roots.add(entry.pid);
  }
  roots.delete(process.pid);
  const family = withDescendants(entries, roots).filter((entry) => entry.pid !== shim?.pid);
  const script = sessionFile(dir, 'shim.sh');
  const shells = new Set(
    family.filter(({ pid }) => processTable.runsScript(pid, script) === true).map(({ pid }) => pid),
  );
  // Besides the command, the shim's own children are the small programs that do its work, such as recording the exit.
  const isHelper = ({ pid, parent }: ProcessEntry) =>
    shells.has(pid) || shells.has(parent) || (parent === shim?.pid && pid !== child?.pid);
  return { workers: family.filter((entry) => !isHelper(entry)), helpers: family.filter(isHelper) };
}

/** Sends the first signal to those who have not had it, and lets halted ones go on so that they can act on it. */
function askToLeave(workers: ProcessEntry[], signal: NodeJS.Signals, asked: Set<string>): void {
  for (const worker of workers) {
    const name = `${worker.pid}@${worker.start}`;
    if (!asked.has(name) && signalProcess(worker, signal)) asked.add(name);
    if (worker.stopped) signalProcess(worker, 'SIGCONT');
  }
}

/**
 * Ends a session: every process of it gets the first signal, what remains after the grace is killed. The shim is spared
 * until the others are gone, so that it can record the exit code. Nothing is left of the session when this returns.
 */
export async function stopSession(request: StopRequest): Promise<{ killed: number }> {
  checkMarker(request.marker);
  const { identity, firstSignal = 'SIGTERM', graceMs = limits.stopGraceMs, now = monotonicClock } = request;
  const killFromMs = now() + graceMs;
  let idleSinceMs: number | null = null;
  const asked = new Set<string>();
  const killed = new Set<number>();
  const pause = createPauses();
  let wasGone = false;
  for (;;) {
    const { workers, helpers } = findFamily(request);
    const shimAlive = identity !== null && isAlive(identity);
    const isGone = workers.length === 0 && helpers.length === 0 && !shimAlive;
    // A process that is just becoming another program shows no environment, so one look is not enough.
    if (isGone && wasGone) return { killed: killed.size };
    wasGone = isGone;
    idleSinceMs = workers.length > 0 ? null : (idleSinceMs ?? now());
    const shimLate = idleSinceMs !== null && now() - idleSinceMs >= hostLimits.shimLeaveMs;
    if (workers.length > 0 && now() >= killFromMs) {
      for (const worker of workers) if (signalProcess(worker, 'SIGKILL')) killed.add(worker.pid);
    } else if (workers.length > 0) {
      askToLeave(workers, firstSignal, asked);
    } else if (!shimAlive || shimLate) {
      for (const helper of helpers) signalProcess(helper, 'SIGKILL');
      if (identity !== null) signalProcess(identity, 'SIGKILL');
    }
    if (now() >= killFromMs + hostLimits.killMs) throw stillThere(workers, request);
    await pause();
  }
}

function stillThere(workers: ProcessEntry[], request: StopRequest): PawlError {
  const pids = workers.map((worker) => worker.pid);
  return new PawlError('timeout', `processes survive SIGKILL: ${pids.join(', ') || 'the shim'}`, {
    hint: 'They wait for a device or a file system inside the kernel. Try again, or look at them with ps.',
    details: { dir: request.dir, pids },
  });
}
