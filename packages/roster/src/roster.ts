import { markerVariable } from '@pawl/host/session/marker';
import { realpathSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';
import type { AgentProcess, Look } from './look-around.ts';
import { byAge, lineOf } from './look-around.ts';
import type { ProcessView } from './process-view.ts';
import { cannotTell } from './process-view.ts';

/** Another agent working in the project. */
export type Other = {
  pid: number;
  cwd: string;
  provider: string;
  start: string;
  startedAt: number | null;
  /** Its id in its environment, set by Pawl or by whoever started it. */
  agentId: string | null;
  /** Its Pawl session, if it is one of Pawl's own. */
  session: string | null;
};

export type Roster = {
  /** Oldest first. */
  others: Other[];
  /** Processes that look like agents and were skipped, with the reason. */
  skipped: { pid: number; reason: string }[];
  /** Why "alone" is uncertain, although no agent was found. */
  doubts: string[];
  /** The asking agent, if an ancestor is an agent: the topmost that works here. */
  own: { pid: number; start: string } | null;
  /**
   * True if the asking agent was there before the others, and so has the primary's duties. Never true for a caller not
   * known to be an agent.
   */
  isEldest: boolean;
};

export type RosterRequest = {
  view: ProcessView;
  look: Look;
  root: string;
  /** The asking process; null for a caller outside of the project. */
  self: number | null;
  /** Directories with the worktrees of Pawl's agents. */
  worktrees: readonly string[];
};

/**
 * The other agents in a directory or below: all agent processes, except the caller's family and Pawl's agents in their
 * own worktrees. Writes nothing. Of a family, only the topmost member is listed.
 */
export function rosterOf(request: RosterRequest): Roster {
  const { view, look, self } = request;
  const root = canonical(request.root);
  if (root === null) throw cannotTell(`${request.root} does not exist`);
  if (self !== null && !look.byPid.has(self)) throw cannotTell('our own process is not in the list of processes');
  const family = ownFamily(look, self);
  const mayBeHere = accessTo(root);
  const skipped: Roster['skipped'] = [];
  const doubts: string[] = [];
  const here: Other[] = [];
  for (const agent of look.agents.filter(({ pid }) => !family.has(pid))) {
    const location = locationOf(agent, root);
    if (location.is === 'unknown') {
      skipped.push({ pid: agent.pid, reason: location.reason });
      if (location.wasInside || mayBeHere(agent.user))
        doubts.push(`${agent.provider} ${agent.pid}: ${location.reason}`);
    } else if (location.is === 'inside') {
      const other = described(view, agent, location.path);
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

/** The exit code of a roster: 0 alone, 1 not alone, 2 unknown. */
export function exitCodeOf({ others, doubts }: Pick<Roster, 'others' | 'doubts'>): 0 | 1 | 2 {
  if (others.length > 0) return 1;
  return doubts.length > 0 ? 2 : 0;
}

/** True for the directory itself and paths below it, by whole names: /a/b2 is not in /a/b. */
export function isInside(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith(sep) ? directory : directory + sep);
}

/** True for a path strictly below one of several directories. */
export function isBelowAny(path: string, directories: readonly string[]): boolean {
  return directories.some((each) => {
    const directory = canonical(each);
    return directory !== null && directory !== path && isInside(path, directory);
  });
}

/** The path without links, or null if it does not exist. */
export function canonical(path: string): string | null {
  try {
    return realpathSync.native(path);
  } catch {
    return null;
  }
}

/** The caller, its ancestors, and all descendants of it and of its nearest agent ancestor. */
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
  const [first] = look.agents.filter((agent) => line.has(agent.pid) && locationOf(agent, root).is === 'inside');
  return first ?? null;
}

type Location =
  | { is: 'inside'; path: string }
  | { is: 'elsewhere' }
  | { is: 'unknown'; reason: string; wasInside: boolean };

function locationOf({ directory }: Pick<AgentProcess, 'directory'>, root: string): Location {
  if (directory.state === 'gone') return { is: 'elsewhere' };
  if (directory.state === 'unreadable') {
    return { is: 'unknown', reason: `its directory cannot be read (${directory.reason})`, wasInside: false };
  }
  const path = directory.state === 'at' ? canonical(directory.path) : null;
  if (path !== null) return isInside(path, root) ? { is: 'inside', path } : { is: 'elsewhere' };
  // An agent whose directory was deleted may continue beside it; elsewhere that does not matter here.
  if (!isInside(directory.path, root)) return { is: 'elsewhere' };
  return { is: 'unknown', reason: 'its directory was deleted', wasInside: true };
}

/**
 * Whether a user could work in a directory at all. Hidden processes of a user without write access are no reason for
 * doubt: otherwise nobody on a shared machine would ever be alone.
 */
function accessTo(root: string): (user: number | null) => boolean {
  const { uid, mode } = statSync(root);
  return (user) => user === null || user === 0 || user === uid || (mode & 0o022) !== 0;
}

/** Valid ids; anything else in a foreign environment is not repeated. */
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

/** True for one of Pawl's agents in its own worktree, by its session marker and its directory. */
function worksApart(view: ProcessView, { pid, cwd, session }: Other, worktrees: readonly string[]): boolean {
  if (session === null) return false;
  const home = view.variable(pid, 'PAWL_HOME');
  const known = [...worktrees, ...(home === null ? [] : [join(home, 'worktrees')])];
  return isBelowAny(cwd, known);
}

/** Drops descendants of others: programs that an agent started are part of it. */
function uppermost(here: Other[], look: Look): Other[] {
  const pids = new Set(here.map(({ pid }) => pid));
  return here.filter(({ pid }) => !lineOf(pid, look.byPid).some((parent) => parent !== pid && pids.has(parent)));
}
