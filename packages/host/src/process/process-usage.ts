import type { Host } from '../host.ts';
import { membersOf } from './family.ts';
import type { ProcessIdentity } from './identity.ts';

export type ProcessUsage = {
  /** Processor time of all processes, and of their waited-for children. Decreases when one ends unwaited for. */
  cpuMs: number;
  /** Memory; shared memory counts for each process. */
  residentBytes: number;
  processes: number;
};

/**
 * The usage of each session's processes, including its shim, by the shim's pid, from one listing. With its marker,
 * reparented processes count as well. Skips sessions that are not running.
 */
export async function processUsage(
  host: Host,
  sessions: readonly (ProcessIdentity & { marker?: string })[],
): Promise<Map<number, ProcessUsage>> {
  const listing = await host.listings.next();
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
