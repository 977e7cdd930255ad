import type { AgentView } from '@pawl/protocol/agents/view';
import { changeOf, stateCounts, stateOf, statePaint, taskOf } from './format.ts';
import type { Palette } from '../terminal/terminal.ts';
import { cut, printableLine } from '../terminal/terminal.ts';

export type TreeOptions = { all: boolean; current: string | null; columns: number; colours: Palette };

/** The indentation per generation. */
const indentColumns = 3;

/**
 * Renders the family of agents as lines, agent 0 first, children below their parents in order of birth, and a last line
 * with counts. Shows dead agents with living descendants, or all on request. `agents` are newest first, as the daemon
 * lists them. Iterative, since a lineage may be arbitrarily long.
 */
export function drawFamily(agents: AgentView[], options: TreeOptions): string[] {
  const family = familyOf(agents.filter(({ status }) => status !== 'reaped'));
  const shown = options.all ? new Set(family.byId.keys()) : withAncestors(family);
  const sizes = branchSizes(family, shown);
  const deepest = Math.max(1, Math.floor(options.columns / 2 / indentColumns));
  const lines: string[] = [];
  const { dim } = options.colours;
  const waiting: Place[] = placesOf(family.tops, shown, '', 0);
  for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
    const { agent, indent, isLast, generation } = place;
    const [branch, below] = generation === 0 ? ['', ''] : isLast ? ['└─ ', '   '] : ['├─ ', '│  '];
    lines.push(cut(dim(indent + branch) + describe(agent, family, options), options.columns));
    const deeper = (sizes.get(agent.id) ?? 1) - 1;
    if (generation < deepest) {
      const children = family.children.get(agent.id) ?? [];
      for (const next of placesOf(children, shown, indent + below, generation + 1)) waiting.push(next);
    } else if (deeper > 0) lines.push(cut(dim(`${indent}${below}└─ … ${deeper} deeper`), options.columns));
  }
  const counted = [...family.byId.values()].filter(({ parentId }) => parentId !== null);
  return [...lines, cut(dim(stateCounts(counted.map(stateOf))), options.columns)];
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

function describe(agent: AgentView, { byId }: Family, { current, colours }: TreeOptions): string {
  const state = stateOf(agent);
  const supervisor = agent.supervisorId === agent.parentId ? undefined : byId.get(agent.supervisorId ?? '');
  return [
    `${agent.id === current ? '*' : ''}${colours.bold(agent.alias)}`,
    statePaint(state, colours)(state),
    ...(supervisor === undefined || agent.status !== 'running' ? [] : [colours.yellow(`(under ${supervisor.alias})`)]),
    ...(agent.assignment === null ? [] : [printableLine(taskOf(agent))]),
    ...(agent.change === null ? [] : [colours.dim(`[${changeOf(agent)}]`)]),
    ...(agent.status !== 'running' || agent.detail === '' ? [] : [colours.dim(`· ${printableLine(agent.detail)}`)]),
  ]
    .join(' ')
    .trimEnd();
}
