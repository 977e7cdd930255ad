import { setTimeout as pause } from 'node:timers/promises';
import { hostLimits } from '../host-limit.ts';
import { markerVariable } from '../session/marker.ts';
import { ProcessListing } from './process-listing.ts';
import type { ProcessEntry } from './process-table.ts';
import { processTable } from './process-table.ts';
import { createPauses } from '../wait.ts';

/** What the environment of a process was found to say. It holds as long as the process stays the same program. */
type Known = { start: string; image: string; markers: string[] };

const knownProcesses = new Map<number, Known>();

/**
 * One look at all processes. It reads until nothing is new: a process that was read first may have started another and
 * ended while the last ones were read, and then only the new one tells of it.
 */
class Look {
  readonly #entries = new Map<number, ProcessEntry>();
  /** Those that show no environment because they are just becoming another program. */
  #unclear = new Set<number>();

  /** Reads what is new or was unclear, and tells whether that was nothing, only what was unclear, or more. */
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
 * Reads the environments of those whose markers are not known, and returns those that show none at the moment. What may
 * change unnoticed is read every time.
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

/** The markers of exactly this program. One that has cleared its environment, or reuses a pid, keeps none of those before it. */
function markersOf({ pid, start, image }: ProcessEntry): readonly string[] {
  const known = knownProcesses.get(pid);
  return known?.start === start && known.image === image ? known.markers : [];
}

/** Looks at all processes at once. It may miss the marker of one that is just becoming another program. */
export function listProcesses(): ProcessListing {
  const look = new Look();
  for (let passes = 0; passes < hostLimits.listingPasses && look.pass() === 'new'; passes += 1);
  return look.end();
}

let awaited: Promise<ProcessListing> | null = null;
let lastCostMs = 0;

/**
 * Looks at all processes soon. Whoever asks before the look begins shares it, so that it is never older than the
 * question. Between two looks passes twice the time that one takes, within a limit, and belongs to others.
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
