import type { Confinement } from '@pawl/protocol/agents/verb-view';
import type { AgentView } from '@pawl/protocol/agents/view';
import { count, duration, tokens } from '../amount.ts';

/** An agent's state in one word: paused, or its run's outcome, if that says more than the activity. */
export function stateOf(agent: AgentView): string {
  if (agent.status === 'running' && agent.paused) return 'paused';
  if (agent.status === 'running' && agent.adopted) return 'adopted';
  // A persistent agent is never completed: at rest it is idle.
  const isTask = agent.class === 'ephemeral';
  return isTask && agent.status === 'running' && agent.activity === 'idle' && agent.run?.status === 'completed'
    ? 'completed'
    : agent.status === 'running'
      ? agent.activity
      : agent.status;
}

/** The duration of an agent's latest run. */
export function runDuration(agent: AgentView, now: number): string {
  return agent.run === null ? '' : duration((agent.run.endedAt ?? now) - agent.run.startedAt);
}

/** The first line of an agent's assignment. */
export function taskOf({ assignment }: AgentView): string {
  return assignment === null ? unknown : (assignment.trim().split('\n', 1)[0] ?? '');
}

/** An agent's current activity, what it waits for, or its last words. */
export function activityOf({ detail }: AgentView): string {
  return detail === '' ? unknown : detail;
}

/** An agent's first project, and the number of others: `web +1`. */
export function projectOf({ project, places }: AgentView): string {
  if (project === null) return unknown;
  return places.length === 0 ? project.name : `${project.name} +${places.length}`;
}

/** An agent's access, and whether its latest session ran in a sandbox. */
export function accessOf({ access, session }: Pick<AgentView, 'access' | 'session'>): string {
  const sandbox = session?.sandbox ?? null;
  return sandbox === null ? access : `${access}, ${sandbox === 'on' ? 'sandboxed' : 'no sandbox'}`;
}

/** The access of a new agent, and why it runs in a sandbox or not. */
export function confinementOf({ access }: Pick<AgentView, 'access'>, confinement: Confinement): string {
  switch (confinement.sandbox) {
    case 'on':
      return `access: ${access}, in a sandbox`;
    case 'off':
      return `access: ${access}, without a sandbox (sandbox: off in config.yaml)`;
    case 'missing':
      return `access: ${access}, and no sandbox. ${confinement.reason} ${confinement.hint}`;
  }
}

/** An agent's latest change: id prefix and state. */
export function changeOf({ change }: AgentView): string {
  return change === null ? unknown : `${change.id.slice(0, changeCharacters)} ${change.state}`;
}

/** How much of a change's id is shown: enough to name it. */
const changeCharacters = 6;

/** An agent's cost: money if known, else tokens. */
export function costOf({ cost }: Pick<AgentView, 'cost'>): string {
  if (cost.usd !== null) return `$${cost.usd < 0.1 ? cost.usd.toFixed(3) : cost.usd.toFixed(2)}`;
  return cost.tokens === null ? unknown : `${tokens(cost.tokens)} tok`;
}

/** Shown for unknown values: never a zero. */
const unknown = '-';

/** The order of states in counts: active first, ended last. */
const stateOrder =
  'running starting paused adopted waiting_for_input waiting_for_approval exhausted over_budget crashed idle completed stopped ready_for_cleanup dead reaped'.split(
    ' ',
  );

/** Counts by state: 7 agents: 3 running, 2 idle, 2 dead. */
export function stateCounts(states: string[]): string {
  const counts = new Map<string, number>();
  for (const state of states) counts.set(state, (counts.get(state) ?? 0) + 1);
  const each = [...counts].toSorted(([a], [b]) => stateOrder.indexOf(a) - stateOrder.indexOf(b));
  const total = count(states.length, 'agent');
  return each.length === 0 ? total : `${total}: ${each.map(([state, number]) => `${number} ${state}`).join(', ')}`;
}
