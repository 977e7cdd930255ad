import { knownPrograms, recogniser } from './agent-program.ts';
import type { AgentProgram, Recognise } from './agent-program.ts';
import { lineOf, lookAround } from './look-around.ts';
import type { ProcessView, SeenProcess } from './process-view.ts';
import { cannotTell } from './process-view.ts';
import type { Roster } from './roster.ts';
import { rosterLimits } from './roster-limit.ts';
import { rosterOf } from './roster.ts';
import { printed } from './run-command.ts';
import { procView } from './view-proc.ts';
import { psView } from './view-ps.ts';

/** The means of a survey; each can be replaced in tests. */
export type Probe = { view: ProcessView; self: number; programs: AgentProgram[]; recognise: Recognise };

/**
 * The probe of this system. `ROSTER_PROC` replaces `/proc`, `ROSTER_SELF_PID` names the caller, and `ROSTER_PGREP` is a
 * program that finds processes by name.
 */
export function systemProbe(
  environment: NodeJS.ProcessEnv = process.env,
  programs: AgentProgram[] = knownPrograms(),
): Probe {
  const { ROSTER_PROC: proc, ROSTER_SELF_PID: self, ROSTER_PGREP: pgrep } = environment;
  if (self && !/^[1-9]\d{0,9}$/.test(self)) throw cannotTell('ROSTER_SELF_PID is not a pid');
  const view = proc ? procView(proc) : process.platform === 'linux' ? procView() : psView();
  return {
    view: pgrep ? namedBy(view, pgrep, programs) : view,
    self: self ? Number(self) : process.pid,
    programs,
    recognise: recogniser(programs),
  };
}

/** The other agents in a project, as this probe sees them. */
export function lookForOthers(probe: Probe, root: string, worktrees: readonly string[]): Roster {
  const { view, self } = probe;
  return rosterOf({ view, look: lookAround(view, probe.recognise), root, self, worktrees });
}

/** The coding agents that this process runs in, nearest first, in any directory. */
export function agentsAbove({ view, self, recognise }: Probe): { pid: number; start: string }[] {
  return ancestors(view, self)
    .filter((each) => recognise(each) !== null)
    .map(({ pid, start }) => ({ pid, start }));
}

/** A process and its ancestors, nearest first; called often, so it avoids reading all processes if possible. */
function ancestors(view: ProcessView, self: number): SeenProcess[] {
  if (view.one === undefined) {
    const byPid = new Map(view.list().processes.map((each) => [each.pid, each]));
    return lineOf(self, byPid).flatMap((pid) => byPid.get(pid) ?? []);
  }
  const line: SeenProcess[] = [];
  for (let pid = self; pid > 1 && line.length < rosterLimits.ancestors;) {
    const seen = view.one(pid);
    if (seen === null || line.some((each) => each.pid === pid)) break;
    line.push(seen);
    pid = seen.parent;
  }
  return line;
}

/** A view in which a process has a name only if the given program finds it by that name. */
function namedBy(view: ProcessView, pgrep: string, programs: readonly AgentProgram[]): ProcessView {
  const { one: _unnamed, ...rest } = view;
  return {
    ...rest,
    list() {
      const named = new Map<number, string>();
      for (const name of new Set(programs.flatMap(({ names }) => names))) {
        const { status, stdout } = printed(pgrep, ['-x', '--', name]);
        if (status !== 0 && status !== 1) throw cannotTell(`${pgrep} ended with ${status}`);
        if (status === 0) for (const pid of stdout.split('\n')) named.set(Number(pid), name);
      }
      const { processes, hidden } = view.list();
      return { processes: processes.map((each) => ({ ...each, name: named.get(each.pid) ?? '' })), hidden };
    },
  };
}
