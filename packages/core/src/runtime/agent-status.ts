import type { LiveState } from '@pawl/schema/status';
import { firstLine } from '../shorten.ts';

/** The status of an agent for clients of the runtime contract: a phase, and one sentence about it. */
export type AgentStatus = { status: LiveState['live']; detail: string; about?: string };

/** A status as it is reported. `done` closes the one with this id. Idle has no id, since there is no activity. */
export type StatusReport = AgentStatus & { status_id?: string; lifecycle?: 'doing' | 'done' };

/** The status that was reported last, and its id; null before the first. */
export type ReportedStatus = (AgentStatus & { id: string | null }) | null;

const phases: Record<LiveState['live'], string> = {
  model_loading: 'Model loading',
  thinking: 'Thinking',
  calling_tool: 'Calling a tool',
  working: 'Working',
  idle: 'Idle',
};

const aboutCharacters = 120;

/** Names the phase of an activity in the same few words for every provider; `about` has the rest. */
export function statusOf({ live, detail, tool }: LiveState): AgentStatus {
  const phase = tool === undefined || tool === '' ? phases[live] : `Calling ${tool}`;
  const rest = tool !== undefined && detail.startsWith(`${tool} `) ? detail.slice(tool.length + 1) : '';
  const about = firstLine(rest, aboutCharacters);
  return { status: live, detail: phase, ...(about === '' ? {} : { about }) };
}

/**
 * Reports the next status of an agent. The same status keeps its id; another one, or idle, closes it first. A status
 * that says nothing new is not reported again.
 */
export function reportStatus(
  last: ReportedStatus,
  next: AgentStatus,
  newId: () => string,
): { last: ReportedStatus; reports: StatusReport[] } {
  const isSame = last?.status === next.status;
  if (isSame && last.detail === next.detail && last.about === next.about) return { last, reports: [] };
  if (isSame && last.id !== null) {
    const { id } = last;
    return { last: { ...next, id }, reports: [{ ...next, status_id: id, lifecycle: 'doing' }] };
  }
  const closed: StatusReport[] = last === null || last.id === null ? [] : [closing(last, last.id)];
  if (next.status === 'idle') return { last: { ...next, id: null }, reports: [...closed, next] };
  const id = newId();
  return { last: { ...next, id }, reports: [...closed, { ...next, status_id: id, lifecycle: 'doing' }] };
}

function closing({ status, detail, about }: AgentStatus, id: string): StatusReport {
  return { status, detail, ...(about === undefined ? {} : { about }), status_id: id, lifecycle: 'done' };
}
