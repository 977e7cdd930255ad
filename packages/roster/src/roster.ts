import { markerVariable } from '@pawl/host/session/marker';
import { realpathSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';
import type { AgentProcess, Look } from './look-around.ts';
import { byAge, lineOf } from './look-around.ts';
import type { ProcessView } from './process-view.ts';
import { cannotTell } from './process-view.ts';

/** Another agent that is at work in the project. */
export type Other = {
  pid: number;
  cwd: string;
  provider: string;
  start: string;
  startedAt: number | null;
  /** What its environment says that it is called, by Pawl or by whoever started it. */
  agentId: string | null;
  /** The Pawl session that it belongs to, where it is one of Pawl's own. */
  session: string | null;
};

export type Roster = {
  /** Oldest first. */
  others: Other[];
  /** Processes that look like agents and were left out, with the reason. */
  skipped: { pid: number; reason: string }[];
  /** Why nobody can say "alone", although nobody was found. */
  doubts: string[];
  /** The agent that asks, where one of its parents is an agent: the uppermost that works here. */
  own: { pid: number; start: string } | null;
  /**
   * True when the agent that asks was there before the others: of several, this one has the duties of the first. Whoever is
   * not known to be an agent never is.
   */
  isEldest: boolean;
};

export type RosterRequest = {
  view: ProcessView;
  look: Look;
  root: string;
  /** Who asks; null for somebody who is no part of the project. */
  self: number | null;
  /** Directories with the worktrees that Pawl gives its agents. */
  worktrees: readonly string[];
};

/**
 * Who else is at work in a directory or below it: every agent process, but for the one who asks with all its family, and
 * for Pawl's agents in worktrees of their own. Nothing is written. Of a family, its uppermost member is named.
 */
export function rosterOf(request: RosterRequest): Roster {
  const { view, look, self } = request;
  const root = canonical(request.root);
  if (root === null) throw cannotTell(`${request.root} is not there`);
  if (self !== null && !look.byPid.has(self)) throw cannotTell('our own process is not in the list of processes');
  const family = ownFamily(look, self);
  const mayBeHere = accessTo(root);
  const skipped: Roster['skipped'] = [];
  const doubts: string[] = [];
  const here: Other[] = [];
  for (const agent of look.agents.filter(({ pid }) => !family.has(pid))) {
    const place = placeOf(agent, root);
    if (place.is === 'unknown') {
      skipped.push({ pid: agent.pid, reason: place.reason });
      if (place.wasInside || mayBeHere(agent.user)) doubts.push(`${agent.provider} ${agent.pid}: ${place.reason}`);
    } else if (place.is === 'inside') {
      const other = described(view, agent, place.path);
      if (!worksApart(view, other, request.worktrees)) here.push(other);
    }
  }
  const hidden = look.hidden.filter(({ user }) => user !== 0 && mayBeHere(user));
  if (hidden.length > 0) doubts.push(`${hidden.length} processes that nothing is shown of`);
  const others = uppermost(here, look);
  const own = ownAgent(look, self, root);
  return {
    others,
    skipped,
    doubts,
    own: own === null ? null : { pid: own.pid, start: own.start },
    isEldest: own !== null && others.every((other) => byAge(own, other) < 0),
  };
}

/** What a roster means to a program: 0 alone, 1 not alone, 2 cannot tell. */
export function exitCodeOf({ others, doubts }: Pick<Roster, 'others' | 'doubts'>): 0 | 1 | 2 {
  if (others.length > 0) return 1;
  return doubts.length > 0 ? 2 : 0;
}

/** True for a path that is the directory, or lies below it: by whole names, so that /a/b2 is not in /a/b. */
export function isInside(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith(sep) ? directory : directory + sep);
}

/** True for a path that lies below one of several directories, and is none of them. */
export function isBelowAny(path: string, directories: readonly string[]): boolean {
  return directories.some((each) => {
    const directory = canonical(each);
    return directory !== null && directory !== path && isInside(path, directory);
  });
}

/** A path without links, or null when there is nothing. */
export function canonical(path: string): string | null {
  try {
    return realpathSync.native(path);
  } catch {
    return null;
  }
}

/** Who asks, all its parents, and all that descend from it and from the nearest of its parents that is an agent. */
function ownFamily(look: Look, self: number | null): Set<number> {
  if (self === null) return new Set();
  const line = lineOf(self, look.byPid);
  const agents = new Set(look.agents.map(({ pid }) => pid));
  const nearest = line.find((pid) => agents.has(pid)) ?? self;
  const family = new Set(line);
  for (const { pid } of look.agents) if (lineOf(pid, look.byPid).includes(nearest)) family.add(pid);
  return family;
}

function ownAgent(look: Look, self: number | null, root: string): AgentProcess | null {
  const line = new Set(self === null ? [] : lineOf(self, look.byPid));
  const [first] = look.agents.filter((agent) => line.has(agent.pid) && placeOf(agent, root).is === 'inside');
  return first ?? null;
}

type Place =
  | { is: 'inside'; path: string }
  | { is: 'elsewhere' }
  | { is: 'unknown'; reason: string; wasInside: boolean };

function placeOf({ directory }: Pick<AgentProcess, 'directory'>, root: string): Place {
  if (directory.state === 'gone') return { is: 'elsewhere' };
  if (directory.state === 'unreadable') {
    return { is: 'unknown', reason: `its directory cannot be read (${directory.reason})`, wasInside: false };
  }
  const path = directory.state === 'at' ? canonical(directory.path) : null;
  if (path !== null) return isInside(path, root) ? { is: 'inside', path } : { is: 'elsewhere' };
  // Whoever had a directory taken away may go on beside it; elsewhere that is of no concern here.
  if (!isInside(directory.path, root)) return { is: 'elsewhere' };
  return { is: 'unknown', reason: 'its directory was deleted', wasInside: true };
}

/**
 * Whether a user could be at work in a directory at all. What cannot be seen of somebody who may not write there is no reason
 * for doubt: on a machine with several people nobody would ever be alone.
 */
function accessTo(root: string): (user: number | null) => boolean {
  const { uid, mode } = statSync(root);
  return (user) => user === null || user === 0 || user === uid || (mode & 0o022) !== 0;
}

/** Ids as people and programs give them; anything else in a stranger's environment is not repeated. */
const plainWord = /^[A-Za-z0-9][\w.@-]{0,127}$/;

function described(view: ProcessView, agent: AgentProcess, cwd: string): Other {
  const { pid, provider, start, startedAt } = agent;
  const variable = (...names: string[]) =>
    names.map((name) => view.variable(pid, name)).find((value) => value !== null && plainWord.test(value)) ?? null;
  return {
    pid,
    cwd,
    provider,
    start,
    startedAt,
    agentId: variable('PAWL_AGENT_ID', 'AI_AGENT_ID'),
    session: variable(markerVariable),
  };
}

/** One of Pawl's agents that has a worktree of its own: by the marker of its session, and by where it works. */
function worksApart(view: ProcessView, { pid, cwd, session }: Other, worktrees: readonly string[]): boolean {
  if (session === null) return false;
  const home = view.variable(pid, 'PAWL_HOME');
  const known = [...worktrees, ...(home === null ? [] : [join(home, 'worktrees')])];
  return isBelowAny(cwd, known);
}

/** Without those that descend from another of them: programs that an agent started are a part of it. */
function uppermost(here: Other[], look: Look): Other[] {
  const pids = new Set(here.map(({ pid }) => pid));
  return here.filter(({ pid }) => !lineOf(pid, look.byPid).some((parent) => parent !== pid && pids.has(parent)));
}
