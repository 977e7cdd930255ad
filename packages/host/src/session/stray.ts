import type { ProcessIdentity } from '../process/identity.ts';
import { checkMarker } from './marker.ts';
import { createListings } from '../process/list-processes.ts';
import type { ProcessEntry } from '../process/process-table.ts';

/**
 * The living processes with a session's marker, in any group, session or parent. Excludes processes older than `since`:
 * no descendant is older than its shim. Misses processes that cleared their environment (`findFamily` also checks the
 * control group), and those in the middle of an exec.
 */
export function strayProcesses(marker: string, since?: ProcessIdentity): ProcessEntry[] {
  checkMarker(marker);
  return createListings()
    .now()
    .marked(marker, since ?? null);
}
