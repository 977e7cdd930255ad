import { setTimeout as pause } from 'node:timers/promises';
import { hostLimits } from '../host-limit.ts';
import { markerVariable } from '../session/marker.ts';
import { ProcessListing } from './process-listing.ts';
import type { ProcessEntry } from './process-table.ts';
import { processTable } from './process-table.ts';
import { createPauses } from '../wait.ts';

/** The markers in a process's environment; valid until it execs another program. */
type Known = { start: string; image: string; markers: string[] };

const knownProcesses = new Map<number, Known>();

/**
 * One listing of all processes. Reads until nothing is new: a process read first may have started another and ended
 * before the last ones were read.
 */
class Look {
  readonly #entries = new Map<number, ProcessEntry>();
  /** Processes without an environment because they are in the middle of an exec. */
  #unclear = new Set<number>();

  /** Reads new and unclear processes; reports whether there was nothing, only unclear ones, or new ones. */
  pass(): 'nothing' | 'unclear' | 'new' {
    const before = this.#unclear;
    const entries = processTable.list({ has: (pid) => this.#entries.has(pid) && !before.has(pid) });
    for (const pid of before) this.#entries.delete(pid);
    for (const entry of entries) this.#entries.set(entry.pid, entry);
    this.#unclear = learnMarkers(entries.filter(({ defunct, bare }) => !defunct && !bare));
    if (entries.every(({ pid }) => before.has(pid))) return this.#unclear.size === 0 ? 'nothing' : 'unclear';
    return 'new';
  }

  end(): ProcessListing {
    if (knownProcesses.size > 2 * this.#entries.size) {
      for (const pid of knownProcesses.keys()) if (!this.#entries.has(pid)) knownProcesses.delete(pid);
    }
    return new ProcessListing(this.#entries.values(), markersOf, processTable.outputs);
  }
}

/**
 * Reads the environments of processes with unknown markers, and returns those that show none at the moment. Always
 * rereads those that may change unnoticed.
 */
function learnMarkers(entries: readonly ProcessEntry[]): Set<number> {
  const unknown = entries.filter((entry) => {
    const known = knownProcesses.get(entry.pid);
    return known === undefined || entry.image === '' || known.image !== entry.image || known.start !== entry.start;
  });
  const pids = unknown.map((entry) => entry.pid);
  const found = processTable.variables(pids, markerVariable);
  for (const { pid, start, image } of unknown) {
    const markers = found.get(pid) ?? null;
    if (markers === null) knownProcesses.delete(pid);
    else knownProcesses.set(pid, { start, image, markers });
  }
  return new Set(pids.filter((pid) => found.get(pid) === null));
}

/** The markers of exactly this program. One that cleared its environment, or reuses a pid, keeps none. */
function markersOf({ pid, start, image }: ProcessEntry): readonly string[] {
  const known = knownProcesses.get(pid);
  return known?.start === start && known.image === image ? known.markers : [];
}

/** Lists all processes. May miss the marker of one in the middle of an exec. */
export function listProcesses(): ProcessListing {
  const look = new Look();
  for (let passes = 0; passes < hostLimits.listingPasses && look.pass() === 'new'; passes += 1);
  return look.end();
}

let awaited: Promise<ProcessListing> | null = null;
let lastCostMs = 0;

/**
 * Lists all processes soon. Callers before the listing starts share it, so it is never older than the call. Between two
 * listings, twice the time of one passes, within a limit, to leave time for others.
 */
export function nextListing(): Promise<ProcessListing> {
  awaited ??= lookSoon();
  return awaited;
}

async function lookSoon(): Promise<ProcessListing> {
  await pause(Math.min(2 * lastCostMs, hostLimits.listingRestMs));
  awaited = null;
  const beganMs = performance.now();
  try {
    return await lookPatiently();
  } finally {
    lastCostMs = performance.now() - beganMs;
  }
}

async function lookPatiently(): Promise<ProcessListing> {
  const look = new Look();
  const wait = createPauses();
  for (let passes = 0, pauses = 0; passes < hostLimits.listingPasses; passes += 1) {
    const found = look.pass();
    if (found === 'nothing' || (found === 'unclear' && pauses === hostLimits.listingPauses)) break;
    if (found === 'unclear') {
      pauses += 1;
      await wait();
    }
  }
  return look.end();
}
