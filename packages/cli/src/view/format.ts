import type { AgentView } from '@pawl/protocol/agents/view';
import type { Palette } from '../terminal/terminal.ts';

/** Formats a duration: 820ms, 4.2s, 3m12s, 5h03m. */
export function duration(ms: number): string {
  if (ms < 999.5) return `${Math.max(0, Math.round(ms))}ms`;
  // Each unit ends where its last digit would round up to the next one: 60.0s is 1m00s.
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)}s`;
  const seconds = Math.max(60, Math.floor(ms / 1000));
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m${String(seconds % 60).padStart(2, '0')}s`;
  return `${Math.floor(minutes / 60)}h${String(minutes % 60).padStart(2, '0')}m`;
}

/** Formats tokens: 950, 12.3k, 4.5M. */
export function tokens(count: number): string {
  if (count < 1000) return String(count);
  return count < 999_950 ? `${(count / 1000).toFixed(1)}k` : `${(count / 1_000_000).toFixed(1)}M`;
}

/** Formats bytes: 512 B, 3.4 KB, 12.0 MB. */
export function bytes(count: number): string {
  if (count < 1024) return `${count} B`;
  return count < 1023.95 * 1024 ? `${(count / 1024).toFixed(1)} KB` : `${(count / 1024 / 1024).toFixed(1)} MB`;
}

/** The local time of day. */
export function clockTime(at: number): string {
  return new Date(at).toTimeString().slice(0, 8);
}

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

/** The state's colour: green is fine, yellow needs a person, red failed. */
export function statePaint(state: string, colours: Palette): (text: string) => string {
  if (state === 'completed') return colours.green;
  if (state === 'running' || state === 'starting') return colours.cyan;
  if (['waiting_for_input', 'exhausted', 'over_budget', 'paused'].includes(state)) return colours.yellow;
  return state === 'crashed' ? colours.red : colours.dim;
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

/** A count with its noun: 1 agent, 3 agents. */
export function count(things: number, thing: string): string {
  return `${things} ${thing}${things === 1 ? '' : 's'}`;
}

/** Names shown in a sentence; --json has all. */
const namedInText = 12;

/** Names in a sentence; beyond a dozen only counted. */
export function names(all: string[]): string {
  const rest = all.length - namedInText;
  return rest > 0 ? `${all.slice(0, namedInText).join(', ')} and ${rest} more` : all.join(', ');
}

/** The order of states in counts: active first, ended last. */
const stateOrder =
  'running starting paused adopted waiting_for_input exhausted over_budget crashed idle completed stopped ready_for_cleanup dead reaped'.split(
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
