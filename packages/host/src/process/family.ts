import { realpathSync } from 'node:fs';
import { setImmediate as breathe } from 'node:timers/promises';
import { createSerial } from '@pawl/core/sessions/turn-taking';
import { groupOf, pidsInGroup } from '../session/control-group.ts';
import { findChild } from '../session/find-session.ts';
import type { ProcessIdentity } from './identity.ts';
import { checkMarker } from '../session/marker.ts';
import type { ProcessListing } from './process-listing.ts';
import { nextListing } from './list-processes.ts';
import type { ProcessEntry } from './process-table.ts';
import { processTable } from './process-table.ts';
import { sessionFile } from '../session/session-files.ts';

/** A session as those name it who signal its processes. */
export type SessionAddress = {
  /** The shim, or null when it is not known: then only what carries the marker is found. */
  identity: ProcessIdentity | null;
  dir: string;
  marker: string;
};

/** The living processes of a session. */
export type Family = {
  shim: ProcessEntry | null;
  /** The agent itself: the command that the shim runs. */
  child: ProcessEntry | null;
  /** The agent's own processes, itself included. */
  workers: ProcessEntry[];
  /** The processes that do the shim's work. They leave by themselves once the command is gone. */
  helpers: ProcessEntry[];
};

/**
 * Everything that belongs to a session, the shim included. The process group counts only while its leader, the shim, is
 * certainly ours: afterwards its number may be somebody else's. Nobody is found through ourselves, for our other children
 * belong to other sessions.
 */
export function membersOf(
  listing: ProcessListing,
  session: {
    identity: ProcessIdentity | null;
    child?: ProcessIdentity | null;
    marker: string | null;
    /** Its directory: by that are found its control group, and where it has none, those who write to its files. */
    dir?: string;
  },
): ProcessEntry[] {
  const { identity, child = null, marker, dir } = session;
  const group = dir === undefined || marker === null ? null : groupOf(dir, marker);
  const shim = identity === null ? null : listing.find(identity);
  const roots = [
    ...(marker === null ? [] : listing.marked(marker, identity)),
    ...(child === null ? [] : [child]),
    ...(group === null ? [] : listing.among(pidsInGroup(group), identity)),
    ...(dir === undefined || group !== null || identity === null ? [] : listing.writingTo(realPath(dir), identity)),
    ...(shim === null ? [] : [shim, ...listing.inGroup(shim.pid)]),
  ];
  return listing.withDescendants(roots.map((entry) => entry.pid));
}

/** The kernel names open files by their real paths. */
function realPath(dir: string): string {
  try {
    return realpathSync(dir);
  } catch {
    return dir;
  }
}

const inTurn = createSerial();

/**
 * Finds the processes of a session by a look that begins after this call. Many sessions share one look; they go on from it
 * one by one, so that whoever ends a hundred of them still answers others in between.
 */
export async function findFamily(session: SessionAddress): Promise<Family> {
  const { identity, dir, marker } = session;
  checkMarker(marker);
  const listing = await nextListing();
  await inTurn(() => breathe());
  const recorded = identity === null ? null : findChild(dir, identity);
  const shim = identity === null ? null : listing.find(identity);
  const members = membersOf(listing, { identity, child: recorded, marker, dir }).filter(
    (entry) => entry.pid !== shim?.pid,
  );
  const script = sessionFile(dir, 'shim.sh');
  const shells = new Set(
    members.filter(({ pid }) => processTable.runsScript(pid, script) === true).map(({ pid }) => pid),
  );
  // Besides the command, the shim's own children are the small programs that do its work, such as recording the exit.
  const isHelper = ({ pid, parent }: ProcessEntry) =>
    shells.has(pid) || shells.has(parent) || (parent === shim?.pid && pid !== recorded?.pid);
  return {
    shim,
    child: recorded === null ? null : listing.find(recorded),
    workers: members.filter((entry) => !isHelper(entry)),
    helpers: members.filter(isHelper),
  };
}
