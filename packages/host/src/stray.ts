import type { ProcessIdentity } from './identity.ts';
import { checkMarker, markerVariable } from './marker.ts';
import type { ProcessEntry } from './process-table.ts';
import { processTable, startOrder } from './process-table.ts';

/**
 * The living processes that carry a session's marker, whatever group, session or parent they have by now. Processes
 * older than `since` are skipped unread: no descendant is older than its shim. A process that cleared its environment
 * and left its parents is not found.
 */
export function strayProcesses(marker: string, since?: ProcessIdentity): ProcessEntry[] {
  checkMarker(marker);
  return markedProcesses(processTable.list(), marker, since);
}

/** The processes among `entries` that carry the marker. We ourselves are never one of them. */
export function markedProcesses(entries: ProcessEntry[], marker: string, since?: ProcessIdentity): ProcessEntry[] {
  const oldest = since === undefined ? 0 : startOrder(since.start);
  return entries.filter(
    (entry) =>
      entry.pid !== process.pid &&
      !entry.defunct &&
      startOrder(entry.start) >= oldest &&
      processTable.hasVariable(entry.pid, markerVariable, marker),
  );
}
