import { startOrder } from '@pawl/host/process/process-table';
import type { Recognise } from './agent-program.ts';
import type { Directory, HiddenProcess, ProcessView, SeenProcess } from './process-view.ts';
import { rosterLimits } from './roster-limit.ts';

/** A process of a coding agent, and its directory. */
export type AgentProcess = SeenProcess & { provider: string; directory: Directory };

/** All processes at one moment, and which of them are agents. */
export type Look = {
  /** Oldest first. */
  agents: AgentProcess[];
  hidden: HiddenProcess[];
  byPid: ReadonlyMap<number, SeenProcess>;
};

/** Lists all processes once. */
export function lookAround(view: ProcessView, recognise: Recognise): Look {
  const { processes, hidden } = view.list();
  const found = processes.flatMap((seen) => {
    const provider = recognise(seen);
    return provider === null ? [] : [{ seen, provider }];
  });
  const directories = view.directories(found.map(({ seen }) => seen.pid));
  const agents = found.map(({ seen, provider }): AgentProcess => {
    const directory = directories.get(seen.pid) ?? { state: 'unreadable', reason: 'the system does not say' };
    return { ...seen, provider, directory };
  });
  return { agents: agents.toSorted(byAge), hidden, byPid: new Map(processes.map((seen) => [seen.pid, seen])) };
}

/** Earliest start first; ties by pid. */
export function byAge(a: Pick<SeenProcess, 'start' | 'pid'>, b: Pick<SeenProcess, 'start' | 'pid'>): number {
  return startOrder(a.start) - startOrder(b.start) || a.pid - b.pid;
}

/** A process and its ancestors, nearest first, as far as they exist. Excludes init. */
export function lineOf(pid: number, byPid: ReadonlyMap<number, Pick<SeenProcess, 'parent'>>): number[] {
  const line: number[] = [];
  for (let at = pid; at > 1 && line.length < rosterLimits.ancestors && !line.includes(at);) {
    line.push(at);
    at = byPid.get(at)?.parent ?? 0;
  }
  return line;
}
