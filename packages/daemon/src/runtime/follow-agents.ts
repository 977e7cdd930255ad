import type { ReportedStatus } from '@pawl/core/runtime/agent-status';
import { reportStatus, statusOf } from '@pawl/core/runtime/agent-status';
import type { Event } from '@pawl/schema/event';
import { eventData } from '@pawl/schema/event';
import { newId } from '@pawl/schema/id';
import { personName } from '@pawl/schema/runtime/runtime-event';
import type { LiveState } from '@pawl/schema/status';
import type { Store } from '@pawl/store/store';
import { endedAgents } from '../platform/ended-agents.ts';
import type { IntakeTarget, Shown } from '../sessions/ingest/batch.ts';
import type { Ingest } from '../sessions/ingest/ingest.ts';
import type { LiveFeed, Subject } from './live-feed.ts';
import { createLiveFeed } from './live-feed.ts';

/** The working agents, with the status that was reported last. */
type AtWork = Map<string, ReportedStatus>;

export type Following = {
  feed: LiveFeed;
  /** The status of an agent that was reported last; null if it does not work. */
  status(agentId: string): ReportedStatus;
  close(): void;
};

const loading: LiveState = { live: 'model_loading', detail: '' };
const working: LiveState = { live: 'working', detail: '' };

/** Publishes the status, text and state changes of all agents. */
export function followAgents(store: Store, ingest: Ingest): Following {
  const feed = createLiveFeed(() => store.lastSeq());
  const atWork: AtWork = new Map();

  function report(subject: Subject & { agentId: string }, live: LiveState, phase?: string): void {
    const { agentId } = subject;
    const next = phase === undefined ? statusOf(live) : { ...statusOf(live), detail: phase };
    const { last, reports } = reportStatus(atWork.get(agentId) ?? null, next, newId);
    atWork.set(agentId, last);
    for (const each of reports) feed.publish(subject, { type: 'AgentStatus', agent_id: agentId, ...each });
  }

  function end(subject: Subject & { agentId: string }, phase: string): void {
    if (!atWork.has(subject.agentId)) return;
    report(subject, { live: 'idle', detail: '' }, phase);
    atWork.delete(subject.agentId);
  }

  function noteEvent({ type, data, agentId, projectId }: Event): void {
    for (const ended of endedAgents({ type, data } as Event)) end({ agentId: ended, projectId }, 'Ended');
    if (agentId === null) return;
    const subject = { agentId, projectId };
    if (type === 'session.started') begin(subject, loading);
    else if (type === 'session.adopted') begin(subject, working);
    else if (type === 'run.ended') {
      const { status } = eventData['run.ended'].parse(data);
      // Also report an agent that never started to work: its run was cancelled before it began.
      if (!atWork.has(agentId)) atWork.set(agentId, null);
      end(subject, endPhases[status]);
    }
  }

  function begin(subject: Subject & { agentId: string }, live: LiveState): void {
    if (!atWork.has(subject.agentId)) atWork.set(subject.agentId, null);
    report(subject, live);
  }

  function noteShown({ agent, session }: IntakeTarget, shown: readonly Shown[]): void {
    // Ignores late output of a run that has ended.
    if (!atWork.has(agent.id)) return;
    const subject = { agentId: agent.id, projectId: agent.projectId, runId: session.runId };
    const to = agent.kind === 'subagent' ? (agent.parentId ?? personName) : personName;
    for (const each of shown) {
      if (each.type === 'status') report(subject, each.live);
      else if (each.type === 'token') feed.publish(subject, { type: 'Token', agent_id: agent.id, token: each.text });
      else if (each.type === 'context')
        feed.publish(subject, { type: 'ContextUsage', agent_id: agent.id, ...each.usage });
      else feed.publish(subject, { type: 'Message', from: agent.id, to, content: each.text });
    }
  }

  const stops = [
    store.onCommit(({ events }) => {
      for (const event of events) noteEvent(event);
      for (const subject of changed(events)) feed.publish(subject, { type: 'StateUpdated' });
      // Stored events have readers, too.
      if (events.length > 0) feed.wakes.wake();
    }),
    ingest.onShown(noteShown),
  ];
  return {
    feed,
    status: (agentId) => atWork.get(agentId) ?? null,
    close: () => stops.forEach((stop) => stop()),
  };
}

const endPhases = { completed: 'Idle', failed: 'Failed', cancelled: 'Cancelled' } as const;

/**
 * Events after which clients read the state again: of agents, runs, tasks, worktrees, changes and queues. Mail and
 * settings have their own.
 */
const stateEvents = /^(?:agent|run|session|task|worktree|project|change|check|queue|main|history|approval|question)\./;

/** The agents whose state some events changed, each once. */
function changed(events: readonly Event[]): Subject[] {
  const subjects = new Map<string, Subject>();
  for (const { type, agentId, projectId } of events)
    if (stateEvents.test(type)) subjects.set(`${projectId} ${agentId}`, { agentId, projectId });
  return [...subjects.values()];
}
