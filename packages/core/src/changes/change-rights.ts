import type { Access, AccessWithCase } from '@pawl/schema/access';
import type { Change, ChangeComment } from '@pawl/schema/change';
import { PawlError } from '@pawl/schema/error';
import type { Agent } from '@pawl/schema/record';
import type { AgentCaller } from '../definitions/gate.ts';
import { checkAccess, checkCase, meets } from '../definitions/gate.ts';
import { isForReview } from './change-comment.ts';
import { isEjected, needsPerson } from './change-state.ts';

/** The caller: a person, or an agent with the definition that binds it. Text in mail or comments gives no right. */
export type Asker = { is: 'person' } | { is: 'agent'; agent: Agent; definition: AgentCaller['definition'] };

/** The actions on an existing change. Approval is not among them: no agent may approve. */
export type ChangeVerb = 'comment' | 'block' | 'unblock' | 'close' | 'retry' | 'merge' | 'repair';

/** Agents' access to the route of each verb. Closing another agent's change has further requirements. */
export type ChangeAccess = Record<ChangeVerb, Access> & { close: AccessWithCase };

/**
 * Refuses actions an agent may not take on a change: by its kind and definition, then by ownership. It may close,
 * block, retry and queue its own changes, and close others' if the route's access allows; every main may comment.
 */
export function refuseChangeVerb(access: ChangeAccess, asker: Asker, change: Change, verb: ChangeVerb): void {
  if (asker.is === 'person') return;
  const { agent, definition } = asker;
  if (agent.projectId !== change.projectId) throw forbidden('An agent may act only on changes of its own project.');
  checkAccess(access[verb], { kind: agent.kind, definition });
  if (verb === 'comment') return;
  if (verb === 'repair') throw forbidden('Only a person may declare that a change repairs the target branch.');
  if (verb === 'close') {
    if (!isOwn(agent, change)) checkCase(access.close, { kind: agent.kind, definition });
    return;
  }
  if (!isOwn(agent, change)) throw forbidden(`An agent may ${verb} its own change only; comment on this one instead.`);
  if (verb === 'unblock' && change.hold !== null && change.hold.by !== nameOf(asker)) {
    throw forbidden(`${change.hold.by} holds this change; only a person may release it.`);
  }
  if (verb === 'retry' && isEjected(change)) refuseRetry(change);
}

/** Checks can be flaky, so an agent may retry each head once. */
function refuseRetry(change: Change): void {
  if (needsPerson({ change })) throw forbidden('This change waits for a person; only a person may retry it.');
  if (change.retriedAt === null) return;
  throw new PawlError('forbidden', 'This commit was retried before, and failed again.', {
    hint: 'Fix what fails, commit, and run `pawl change open`.',
  });
}

/**
 * Refuses to let an agent close a change that others object to, only to propose it again without the objections. An
 * agent that hears of changes may override agents' objections, but not a person's.
 */
export function refuseClosing(
  access: ChangeAccess,
  asker: Asker,
  change: Change,
  blocking: readonly ChangeComment[],
): void {
  refuseChangeVerb(access, asker, change, 'close');
  if (asker.is === 'person') return;
  const { agent, definition } = asker;
  const { hold } = change;
  const isSettling = meets(definition, access.close.also.needs);
  if (hold !== null && hold.by !== nameOf(asker) && !(isSettling && hold.by.startsWith(agentPrefix))) {
    throw forbidden(`${hold.by} holds this change; only a person may close it.`);
  }
  const others = blocking.filter(({ agentId }) => agentId !== agent.id && !(isSettling && agentId !== null));
  if (others.length === 0) return;
  throw new PawlError('forbidden', 'Others have objections to this change, so you may not close it.', {
    hint: `Address them, or leave it to a person: pawl change show ${change.id}`,
  });
}

/** Refuses to let an agent block a change that repairs a red main; its reviewer and people may. */
export function refuseBlocking(asker: Asker, change: Change, fixerId: string | null): void {
  if (asker.is === 'person' || change.reviewerId === asker.agent.id || fixerId === null) return;
  if (change.agentId !== fixerId && change.standInId !== fixerId) return;
  throw new PawlError('forbidden', 'It repairs the target branch: only a person or its reviewer may block it.', {
    hint: 'Comment without [BLOCKING].',
  });
}

/** Whether an agent opened a change, continues it, or owns its branch. */
function isOwn({ id, branch, projectId }: Agent, change: Change): boolean {
  if (projectId !== change.projectId) return false;
  return change.agentId === id || change.standInId === id || (branch !== null && branch === change.branch);
}

/**
 * Refuses to mark a comment as addressed. Its author and people may; the change's author only after a new head, with an
 * explanation. A person's comment needs a review as well.
 */
export function refuseAddressing(asker: Asker, change: Change, comment: ChangeComment, how: string): void {
  if (asker.is === 'person' || comment.agentId === asker.agent.id) return;
  if (!isOwn(asker.agent, change)) {
    throw forbidden('Only its author, the change’s author or a person can mark a comment as addressed.');
  }
  if (comment.head === change.head) {
    throw new PawlError('conflict', 'Nothing new was proposed since that comment, so it cannot be addressed yet.', {
      hint: 'Commit the fix, run `pawl change open`, and then say what you did.',
    });
  }
  if (isForReview(comment, change) && change.reviewedHead !== change.head) {
    throw new PawlError(
      'conflict',
      'A person made this comment: a person, or a review of the new commit, settles it.',
      {
        hint: 'Say what you did in a comment without --addresses, and leave the rest to them.',
      },
    );
  }
  if (how.trim() === '') throw new PawlError('invalid_input', 'Say how the comment was addressed.');
}

/** The name of the caller in facts and texts. The space in the prefix keeps an alias from imitating another name. */
export function nameOf(asker: Asker): string {
  return asker.is === 'person' ? 'a person' : `${agentPrefix}${asker.agent.alias}`;
}

const agentPrefix = 'agent ';

function forbidden(message: string): PawlError {
  return new PawlError('forbidden', message);
}
