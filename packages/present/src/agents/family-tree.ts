import type { AgentView } from '@pawl/protocol/agents/view';
import { agentTone } from '../state-tone.ts';
import { printableLine } from '../text.ts';
import type { Line } from '../tone.ts';
import { span } from '../tone.ts';
import { changeOf, stateCounts, stateOf, taskOf } from './agent-text.ts';

/** One row of the family: an agent, or the number of agents that are folded away there. */
export type FamilyRow = {
  /** Null if agents are folded away. */
  agentId: string | null;
  generation: number;
  /** The drawn branch before the text. */
  branch: string;
  line: Line;
};

export type FamilyOptions = {
  /** Shows all dead agents, not only those with living descendants. */
  all: boolean;
  /** The agent that the person acts as. */
  current: string | null;
  /** Generations that are shown; deeper ones are folded away. */
  deepest: number;
};

/** The width of a branch per generation. */
export const branchColumns = 3;

/**
 * The family of agents, agent 0 first, children below their parents in order of birth, and their states counted.
 * `agents` are newest first, as the daemon lists them. Iterative, since a lineage may be arbitrarily long.
 */
export function familyRows(agents: AgentView[], options: FamilyOptions): { rows: FamilyRow[]; counts: string } {
  const family = familyOf(agents.filter(({ status }) => status !== 'reaped'));
  const shown = options.all ? new Set(family.byId.keys()) : withAncestors(family);
  const sizes = branchSizes(family, shown);
  const rows: FamilyRow[] = [];
  const waiting: Place[] = placesOf(family.tops, shown, '', 0);
  for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
    const { agent, indent, isLast, generation } = place;
    const [branch, below] = generation === 0 ? ['', ''] : isLast ? ['└─ ', '   '] : ['├─ ', '│  '];
    rows.push({
      agentId: agent.id,
      generation,
      branch: indent + branch,
      line: describe(agent, family, options.current),
    });
    const deeper = (sizes.get(agent.id) ?? 1) - 1;
    if (generation < options.deepest) {
      const children = family.children.get(agent.id) ?? [];
      for (const next of placesOf(children, shown, indent + below, generation + 1)) waiting.push(next);
    } else if (deeper > 0) {
      const line = [span(`… ${deeper} deeper`, 'muted')];
      rows.push({ agentId: null, generation: generation + 1, branch: `${indent}${below}└─ `, line });
    }
  }
  const counted = [...family.byId.values()].filter(({ parentId }) => parentId !== null);
  return { rows, counts: stateCounts(counted.map(stateOf)) };
}

type Family = { byId: Map<string, AgentView>; children: Map<string, AgentView[]>; tops: AgentView[] };

function familyOf(agents: AgentView[]): Family {
  const byId = new Map(agents.map((agent) => [agent.id, agent]));
  const children = new Map<string, AgentView[]>();
  const tops: AgentView[] = [];
  for (const agent of agents.toReversed()) {
    const above = parentIn(byId, agent);
    if (above === null) tops.push(agent);
    else if (!children.get(above)?.push(agent)) children.set(above, [agent]);
  }
  return { byId, children, tops };
}

/** The agent to draw it under: its parent, or, if that one was reaped, its supervisor. */
function parentIn(byId: Map<string, AgentView>, { parentId, supervisorId }: AgentView): string | null {
  if (parentId !== null && byId.has(parentId)) return parentId;
  return supervisorId !== null && byId.has(supervisorId) ? supervisorId : null;
}

/** The living, and all their ancestors. */
function withAncestors({ byId }: Family): Set<string> {
  const shown = new Set<string>();
  for (const agent of byId.values()) {
    let next = agent.status === 'running' ? agent : undefined;
    while (next !== undefined && !shown.has(next.id)) {
      shown.add(next.id);
      next = byId.get(parentIn(byId, next) ?? '');
    }
  }
  return shown;
}

/** The number of shown agents in each branch, including its first. */
function branchSizes({ byId, children, tops }: Family, shown: Set<string>): Map<string, number> {
  const downwards: AgentView[] = [...tops];
  for (let index = 0; index < downwards.length; index++) {
    for (const child of children.get(downwards[index]?.id ?? '') ?? []) downwards.push(child);
  }
  const sizes = new Map<string, number>();
  for (const agent of downwards.toReversed()) {
    const size = (sizes.get(agent.id) ?? 0) + (shown.has(agent.id) ? 1 : 0);
    sizes.set(agent.id, size);
    const above = parentIn(byId, agent);
    if (above !== null) sizes.set(above, (sizes.get(above) ?? 0) + size);
  }
  return sizes;
}

type Place = { agent: AgentView; indent: string; isLast: boolean; generation: number };

/** Siblings to draw, as a stack: the first one last. */
function placesOf(agents: AgentView[], shown: Set<string>, indent: string, generation: number): Place[] {
  return agents
    .filter(({ id }) => shown.has(id))
    .toReversed()
    .map((agent, index) => ({ agent, indent, isLast: index === 0, generation }));
}

function describe(agent: AgentView, { byId }: Family, current: string | null): Line {
  const state = stateOf(agent);
  const supervisor = agent.supervisorId === agent.parentId ? undefined : byId.get(agent.supervisorId ?? '');
  const isRunning = agent.status === 'running';
  const parts = [
    span(state, agentTone(state)),
    ...(supervisor === undefined || !isRunning ? [] : [span(`(under ${supervisor.alias})`, 'attention')]),
    ...(agent.assignment === null ? [] : [span(printableLine(taskOf(agent)).trimEnd())]),
    ...(agent.change === null ? [] : [span(`[${changeOf(agent)}]`, 'muted')]),
    ...(!isRunning || agent.detail === '' ? [] : [span(`· ${printableLine(agent.detail)}`.trimEnd(), 'muted')]),
  ].filter(({ text }) => text !== '');
  const mark = agent.id === current ? [span('*')] : [];
  return [...mark, span(agent.alias, 'strong'), ...parts.flatMap((part) => [span(' '), part])];
}
