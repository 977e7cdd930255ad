import type { Lanes } from '@pawl/core/sessions/turn-taking';
import { createLanes, createSerial } from '@pawl/core/sessions/turn-taking';
import type { ChangeLaunch } from '@pawl/schema/launch-spec';
import { hostLimits } from './host-limit.ts';
import type { ProcessListings } from './process/list-processes.ts';
import { createListings } from './process/list-processes.ts';

/**
 * Caches for starting, finding and ending processes. They may be lost: another host finds the same processes.
 */
export type Host = {
  listings: ProcessListings;
  /** One search for a session's processes at a time. */
  inTurn: ReturnType<typeof createSerial>;
  /** One start at a time per directory. */
  starts: Lanes;
  /** One input at a time per directory. */
  inputs: Lanes;
  /** Directories of sessions whose last input line was cut by a timeout; the next line must not be joined to it. */
  tornInputs: Set<string>;
  /** Applied once to every launch: puts it into a sandbox. */
  confine: ChangeLaunch;
};

export function createHost({ confine = asRequested }: { confine?: ChangeLaunch } = {}): Host {
  return {
    listings: createListings(),
    inTurn: createSerial(),
    starts: createLanes(hostLimits.waiters),
    inputs: createLanes(hostLimits.waiters),
    tornInputs: new Set(),
    confine,
  };
}

const asRequested: ChangeLaunch = (launch) => launch;
