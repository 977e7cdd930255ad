import { PawlError } from '@pawl/schema/error';
import type { Family, SessionAddress } from '../process/family.ts';
import { findFamily } from '../process/family.ts';
import { isChildRecorded } from './find-session.ts';
import type { Host } from '../host.ts';
import { hostLimits } from '../host-limit.ts';
import type { ProcessIdentity } from '../process/identity.ts';
import { signalProcess } from '../process/identity.ts';
import type { ProcessEntry } from '../process/process-table.ts';
import type { MonotonicClock } from '../wait.ts';
import { createPauses, monotonicClock } from '../wait.ts';

/**
 * Halts every process of a session except the shim and its helpers, which must be able to record an exit. Returns the
 * count once two listings in a row found no other, so that a process that was just being forked is halted, too.
 */
export async function haltSession(
  host: Host,
  session: SessionAddress,
  now: MonotonicClock = monotonicClock,
): Promise<{ halted: number }> {
  const endMs = now() + hostLimits.haltMs;
  const asked = new Set<string>();
  const pause = createPauses();
  let wasHalted = false;
  for (;;) {
    const family = await findFamily(host, session);
    const { workers } = family;
    const running = workers.filter((worker) => !worker.stopped && !waitsForHalted(worker, workers));
    const isAllHalted = running.length === 0 && isComplete(family, session);
    if (isAllHalted && wasHalted) return { halted: workers.length };
    wasHalted = isAllHalted;
    if (now() >= endMs) {
      // A process in uninterruptible sleep, perhaps on a dead disk, halts once released.
      if (running.every((worker) => worker.blocked && asked.has(nameOf(worker))) && isComplete(family, session))
        return { halted: workers.length };
      throw notHalted(running, session);
    }
    for (const worker of running) if (signalProcess(worker, 'SIGSTOP')) asked.add(nameOf(worker));
    await pause();
  }
}

/** True for a parent blocked in the kernel until its halted child has exec'ed. */
function waitsForHalted(worker: ProcessEntry, workers: ProcessEntry[]): boolean {
  return worker.blocked && workers.some((child) => child.parent === worker.pid && child.stopped);
}

/** False until the shim has started the command. */
function isComplete({ shim, isStarting }: Family, { dir }: SessionAddress): boolean {
  return shim === null || (isChildRecorded(dir) && !isStarting);
}

/**
 * Continues every halted process of a session, and returns their number. Also signals blocked ones, which may be about
 * to halt.
 */
export async function continueSession(
  host: Host,
  session: SessionAddress,
  now: MonotonicClock = monotonicClock,
): Promise<{ continued: number }> {
  const endMs = now() + hostLimits.haltMs;
  const told = new Set<string>();
  const pause = createPauses();
  let continued = 0;
  for (;;) {
    const { workers, helpers } = await findFamily(host, session);
    // Signal each once: a process may halt itself again on purpose.
    const waiting = [...workers, ...helpers].filter(
      (entry) => (entry.stopped || entry.blocked) && !told.has(nameOf(entry)),
    );
    // A session that keeps starting processes must not keep its caller forever; new ones are not halted.
    if (waiting.length === 0 || now() >= endMs) return { continued };
    for (const entry of waiting) {
      told.add(nameOf(entry));
      if (signalProcess(entry, 'SIGCONT') && entry.stopped) continued += 1;
    }
    await pause();
  }
}

function nameOf({ pid, start }: ProcessIdentity): string {
  return `${pid}@${start}`;
}

function notHalted(running: ProcessEntry[], { dir }: SessionAddress): PawlError {
  const pids = running.map(({ pid }) => pid);
  return new PawlError(
    'timeout',
    `Processes of the session are still running: ${pids.join(', ') || 'the command is just starting'}.`,
    {
      hint: 'It may start processes faster than they can be halted. Continue it and try again, or stop it.',
      details: { dir, pids },
    },
  );
}
