import type { EventType } from '@pawl/schema/event';

/**
 * Events after which a project's queue may have a next step: a change, its author, a check or a setting has changed.
 */
export const queueEvents: ReadonlySet<EventType> = new Set<EventType>([
  'agent.forked',
  'run.ended',
  'agent.completed',
  'agent.ended',
  'agent.killed',
  'change.opened',
  'change.moved',
  'change.asked',
  'change.queued',
  'change.drafted',
  'change.blocked',
  'change.unblocked',
  'change.approved',
  'change.commented',
  'change.addressed',
  'change.ejected',
  'change.closed',
  'check.ended',
  'emergency.started',
  'queue.paused',
  'queue.resumed',
  'queue.push_allowed',
  'queue.push_forbidden',
  'project.configured',
  'project.moved',
]);
