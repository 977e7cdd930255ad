import type { AgentView } from '@pawl/protocol/view';
import type { Palette } from './terminal.ts';

/** A duration as a person says it: 820ms, 4.2s, 3m12s, 5h03m. */
export function duration(ms: number): string {
  if (ms < 999.5) return `${Math.max(0, Math.round(ms))}ms`;
  // Each unit ends where its last digit would round up to the next one: 60.0s is 1m00s.
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)}s`;
  const seconds = Math.max(60, Math.floor(ms / 1000));
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m${String(seconds % 60).padStart(2, '0')}s`;
  return `${Math.floor(minutes / 60)}h${String(minutes % 60).padStart(2, '0')}m`;
}

/** A number of tokens: 950, 12.3k, 4.5M. */
export function tokens(count: number): string {
  if (count < 1000) return String(count);
  return count < 999_950 ? `${(count / 1000).toFixed(1)}k` : `${(count / 1_000_000).toFixed(1)}M`;
}

/** A number of bytes: 512 B, 3.4 KB, 12.0 MB. */
export function bytes(count: number): string {
  if (count < 1024) return `${count} B`;
  return count < 1023.95 * 1024 ? `${(count / 1024).toFixed(1)} KB` : `${(count / 1024 / 1024).toFixed(1)} MB`;
}

/** The time of day of a moment, in local time. */
export function clockTime(at: number): string {
  return new Date(at).toTimeString().slice(0, 8);
}

/** One word for how an agent is: its run's outcome where that says more than the activity. */
export function stateOf(agent: AgentView): string {
  return agent.status === 'running' && agent.activity === 'idle' && agent.run?.status === 'completed'
    ? 'completed'
    : agent.status === 'running'
      ? agent.activity
      : agent.status;
}

/** The state's colour: green is well, yellow wants a person, red went wrong. */
export function statePaint(state: string, colours: Palette): (text: string) => string {
  if (state === 'completed') return colours.green;
  if (state === 'running' || state === 'starting') return colours.cyan;
  if (state === 'waiting_for_input' || state === 'exhausted') return colours.yellow;
  return state === 'crashed' ? colours.red : colours.dim;
}

/** How long an agent's latest run has taken so far, or took. */
export function runDuration(agent: AgentView, now: number): string {
  return agent.run === null ? '' : duration((agent.run.endedAt ?? now) - agent.run.startedAt);
}
