import { membersOf } from './family.ts';
import type { ProcessIdentity } from './identity.ts';
import { nextListing } from './list-processes.ts';

export type ProcessUsage = {
  /** Processor time of all processes, and of those they have waited for. It falls when one of them ends unwaited for. */
  cpuMs: number;
  /** Memory, in which what processes share is counted for each of them. */
  residentBytes: number;
  processes: number;
};

/**
 * What the processes of each session use, its shim included, by the pid of the shim. It takes one look for all. With its
 * marker, processes that left their parents count as well. A session that does not run is left out.
 */
export async function processUsage(
  sessions: readonly (ProcessIdentity & { marker?: string })[],
): Promise<Map<number, ProcessUsage>> {
  const listing = await nextListing();
  const usage = new Map<number, ProcessUsage>();
  for (const session of sessions) {
    if (listing.find(session) === null) continue;
    const members = membersOf(listing, { identity: session, marker: session.marker ?? null });
    usage.set(session.pid, {
      cpuMs: members.reduce((sum, { cpuMs }) => sum + cpuMs, 0),
      residentBytes: members.reduce((sum, { residentBytes }) => sum + residentBytes, 0),
      processes: members.length,
    });
  }
  return usage;
}
