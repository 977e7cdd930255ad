import { setTimeout as pause } from 'node:timers/promises';
import { hostLimits } from '../host-limit.ts';
import { markerVariable } from '../session/marker.ts';
import { ProcessListing } from './process-listing.ts';
import type { ProcessEntry } from './process-table.ts';
import { processTable } from './process-table.ts';
import { createPauses } from '../wait.ts';

/** Lists all processes, and remembers their markers so that the next listing reads less. */
export type ProcessListings = {
  /** Lists all processes. May miss the marker of one in the middle of an exec. */
  now(): ProcessListing;
  /**
   * Lists all processes soon. Callers before the listing starts share it, so it is never older than the call. Between
   * two listings, twice the time of one passes, within a limit, to leave time for others.
   */
  next(): Promise<ProcessListing>;
};

export function createListings(): ProcessListings {
  const known = new KnownMarkers();
  let awaited: Promise<ProcessListing> | null = null;
  let lastCostMs = 0;

  async function lookSoon(): Promise<ProcessListing> {
    await pause(Math.min(2 * lastCostMs, hostLimits.listingRestMs));
    awaited = null;
    const beganMs = performance.now();
    try {
      return await lookPatiently(known);
    } finally {
      lastCostMs = performance.now() - beganMs;
    }
  }

  return {
    now() {
      const look = new Look(known);
      for (let passes = 0; passes < hostLimits.listingPasses && look.pass() === 'new'; passes += 1);
      return look.end();
    },
    next() {
      awaited ??= lookSoon();
      return awaited;
    },
  };
}

async function lookPatiently(known: KnownMarkers): Promise<ProcessListing> {
  const look = new Look(known);
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

/**
 * One listing of all processes. Reads until nothing is new: a process read first may have started another and ended
 * before the last ones were read.
 */
class Look {
  readonly #known: KnownMarkers;
  readonly #entries = new Map<number, ProcessEntry>();
  /** Processes without an environment because they are in the middle of an exec. */
  #unclear = new Set<number>();

  constructor(known: KnownMarkers) {
    this.#known = known;
  }

  /** Reads new and unclear processes; reports whether there was nothing, only unclear ones, or new ones. */
  pass(): 'nothing' | 'unclear' | 'new' {
    const before = this.#unclear;
    const entries = processTable.list({ has: (pid) => this.#entries.has(pid) && !before.has(pid) });
    for (const pid of before) this.#entries.delete(pid);
    for (const entry of entries) this.#entries.set(entry.pid, entry);
    this.#unclear = this.#known.learn(entries.filter(({ defunct, bare }) => !defunct && !bare));
    if (entries.every(({ pid }) => before.has(pid))) return this.#unclear.size === 0 ? 'nothing' : 'unclear';
    return 'new';
  }

  end(): ProcessListing {
    this.#known.forgetAllBut(this.#entries);
    return new ProcessListing(this.#entries.values(), (entry) => this.#known.of(entry), processTable.outputs);
  }
}

/** The markers in each process's environment; valid until it execs another program. */
class KnownMarkers {
  readonly #byPid = new Map<number, { start: string; image: string; markers: string[] }>();

  /**
   * Reads the environments of processes with unknown markers, and returns those that show none at the moment. Always
   * rereads those that may change unnoticed.
   */
  learn(entries: readonly ProcessEntry[]): Set<number> {
    const unknown = entries.filter((entry) => {
      const known = this.#byPid.get(entry.pid);
      return known === undefined || entry.image === '' || known.image !== entry.image || known.start !== entry.start;
    });
    const pids = unknown.map((entry) => entry.pid);
    const found = processTable.variables(pids, markerVariable);
    for (const { pid, start, image } of unknown) {
      const markers = found.get(pid) ?? null;
      if (markers === null) this.#byPid.delete(pid);
      else this.#byPid.set(pid, { start, image, markers });
    }
    return new Set(pids.filter((pid) => found.get(pid) === null));
  }

  /** The markers of exactly this program. One that cleared its environment, or reuses a pid, keeps none. */
  of({ pid, start, image }: ProcessEntry): readonly string[] {
    const known = this.#byPid.get(pid);
    return known?.start === start && known.image === image ? known.markers : [];
  }

  /** Forgets processes that are gone, once they are the majority. */
  forgetAllBut(alive: ReadonlyMap<number, ProcessEntry>): void {
    if (this.#byPid.size <= 2 * alive.size) return;
    for (const pid of this.#byPid.keys()) if (!alive.has(pid)) this.#byPid.delete(pid);
  }
}
