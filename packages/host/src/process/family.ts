import { realpathSync } from 'node:fs';
import { setImmediate as breathe } from 'node:timers/promises';
import type { Host } from '../host.ts';
import { groupOf, pidsInGroup } from '../session/control-group.ts';
import { findChild } from '../session/find-session.ts';
import type { ProcessIdentity } from './identity.ts';
import { checkMarker } from '../session/marker.ts';
import type { ProcessListing } from './process-listing.ts';
import type { ProcessEntry } from './process-table.ts';
import { processTable, startOrder } from './process-table.ts';
import { sessionFile } from '../session/session-files.ts';

/** Identifies a session in order to signal its processes. */
export type SessionAddress = {
  /** The shim, the sh process that runs the session's command; null if unknown: then only marked processes are found. */
  identity: ProcessIdentity | null;
  dir: string;
  /** The session's id in the environment of its processes. */
  marker: string;
};

/** The living processes of a session. */
export type Family = {
  shim: ProcessEntry | null;
  /** The agent itself: the command that the shim runs, or the sandbox in between. */
  child: ProcessEntry | null;
  /** True while a sandbox is set up and has not started the command. */
  isStarting: boolean;
  /** The agent's processes, including itself. */
  workers: ProcessEntry[];
  /** Processes that work for the shim. They exit by themselves once the command is gone. */
  helpers: ProcessEntry[];
};

/**
 * All processes of a session, including the shim. The process group counts only while its leader, the shim, is
 * verified: afterwards its number may be reused. Never searches through our own process, since our other children
 * belong to other sessions.
 */
export function membersOf(
  listing: ProcessListing,
  session: {
    identity: ProcessIdentity | null;
    child?: ProcessIdentity | null;
    marker: string | null;
    /** Its directory, to find its control group, or, without one, the processes that write to its files. */
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

/** The kernel reports open files by their real paths. */
function realPath(dir: string): string {
  try {
    return realpathSync(dir);
  } catch {
    return dir;
  }
}

/**
 * Finds the processes of a session in a listing that starts after this call. Many sessions share one listing, and
 * continue one by one, so that ending a hundred of them does not block others.
 */
export async function findFamily(host: Host, session: SessionAddress): Promise<Family> {
  const { identity, dir, marker } = session;
  checkMarker(marker);
  const listing = await host.listings.next();
  await host.inTurn(() => breathe());
  const recorded = identity === null ? null : findChild(dir, identity);
  const shim = identity === null ? null : listing.find(identity);
  const members = membersOf(listing, { identity, child: recorded, marker, dir }).filter(
    (entry) => entry.pid !== shim?.pid,
  );
  const script = sessionFile(dir, 'shim.sh');
  const shells = new Set(
    members.filter(({ pid }) => processTable.runsScript(pid, script) === true).map(({ pid }) => pid),
  );
  const started = recorded === null ? null : listing.find(recorded);
  const sandbox = started === null ? null : sandboxAround(started, members);
  // Besides the command, the shim's children are small programs that work for it, such as recording the exit.
  const isHelper = ({ pid, parent }: ProcessEntry) =>
    shells.has(pid) ||
    shells.has(parent) ||
    (parent === shim?.pid && pid !== recorded?.pid) ||
    sandbox?.pids.has(pid) === true;
  return {
    shim,
    child: sandbox === null ? started : sandbox.command,
    isStarting: sandbox !== null && sandbox.command === null,
    workers: members.filter((entry) => !isHelper(entry)),
    helpers: members.filter(isHelper),
  };
}

/**
 * The sandbox that a shim runs instead of the command itself; null without one. Bubblewrap has two processes: one outside
 * that waits, and the init of the pid namespace, whose first child is the command. A signal would end the one outside, and
 * everything in the sandbox with it, so both count as helpers.
 */
function sandboxAround(
  outer: ProcessEntry,
  members: readonly ProcessEntry[],
): { pids: Set<number>; command: ProcessEntry | null } | null {
  if (processTable.program(outer.pid) !== 'bwrap') return null;
  const init = members.find(({ parent }) => parent === outer.pid);
  const inside = members.filter(({ parent }) => parent === init?.pid);
  const [command = null] = inside.toSorted((a, b) => startOrder(a.start) - startOrder(b.start) || a.pid - b.pid);
  return { pids: new Set([outer.pid, ...(init === undefined ? [] : [init.pid])]), command };
}
