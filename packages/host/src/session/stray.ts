import type { ProcessIdentity } from '../process/identity.ts';
import { checkMarker } from './marker.ts';
import { listProcesses } from '../process/list-processes.ts';
import type { ProcessEntry } from '../process/process-table.ts';

/**
 * The living processes that carry a session's marker, whatever group, session or parent they have by now. Processes
 * older than `since` do not count: no descendant is older than its shim. A process that cleared its environment is not
 * found here (`findFamily` also looks at the session's control group), nor is one that is just becoming another program.
 */
export function strayProcesses(marker: string, since?: ProcessIdentity): ProcessEntry[] {
  checkMarker(marker);
  return listProcesses().marked(marker, since ?? null);
}
