import { PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import { groupOf, removeGroup } from './control-group.ts';
import { removeLimitGroups } from './limit-group.ts';
import type { SessionAddress } from '../process/family.ts';
import { findFamily } from '../process/family.ts';
import type { Host } from '../host.ts';
import { hostLimits } from '../host-limit.ts';
import { isAlive, signalProcess } from '../process/identity.ts';
import type { ProcessEntry } from '../process/process-table.ts';
import type { MonotonicClock } from '../wait.ts';
import { createPauses, monotonicClock } from '../wait.ts';

export type StopRequest = SessionAddress & {
  firstSignal?: NodeJS.Signals;
  /** Time between the first signal and SIGKILL. */
  graceMs?: number;
  now?: MonotonicClock;
};

/** Sends the first signal to processes that have not had it, and continues halted ones so that they can handle it. */
function askToLeave(workers: ProcessEntry[], signal: NodeJS.Signals, asked: Set<string>): void {
  for (const worker of workers) {
    const name = `${worker.pid}@${worker.start}`;
    if (!asked.has(name) && signalProcess(worker, signal)) asked.add(name);
    if (worker.stopped) signalProcess(worker, 'SIGCONT');
  }
}

/**
 * Ends a session: sends the first signal to every process, and kills the rest after the grace period. Spares the shim
 * until the others are gone, so that it can record the exit code. Nothing is left of the session on return.
 */
export async function stopSession(host: Host, request: StopRequest): Promise<{ killed: number }> {
  const { identity, firstSignal = 'SIGTERM', graceMs = limits.stopGraceMs, now = monotonicClock } = request;
  const killFromMs = now() + graceMs;
  let idleSinceMs: number | null = null;
  const asked = new Set<string>();
  const killed = new Set<number>();
  const pause = createPauses();
  let wasGone = false;
  for (;;) {
    const { workers, helpers } = await findFamily(host, request);
    const shimAlive = identity !== null && isAlive(identity);
    const isGone = workers.length === 0 && helpers.length === 0 && !shimAlive;
    // A process in the middle of an exec shows no environment, so one listing is not enough.
    if (isGone && wasGone) {
      const group = groupOf(request.dir, request.marker);
      if (group !== null) removeGroup(group);
      removeLimitGroups(request.marker);
      return { killed: killed.size };
    }
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
  return new PawlError('timeout', `Processes survive SIGKILL: ${pids.join(', ') || 'the shim'}.`, {
    hint: 'They are blocked on a device or a file system in the kernel. Try again, or inspect them with ps.',
    details: { dir: request.dir, pids },
  });
}
