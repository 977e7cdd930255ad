import type { Change, ChangeComment } from '@pawl/schema/change';
import { PawlError } from '@pawl/schema/error';
import type { Agent } from '@pawl/schema/record';
import type { Door } from '../definitions/action-table.ts';
import { doors } from '../definitions/action-table.ts';
import type { AgentCaller } from '../definitions/gate.ts';
import { meets, refuseDoor, refuseSpecial } from '../definitions/gate.ts';
import { isForReview } from './change-comment.ts';
import { isEjected, needsPerson } from './change-state.ts';

/** The caller: a person, or an agent with the definition that binds it. Text in mail or comments gives no right. */
export type Asker = { is: 'person' } | { is: 'agent'; agent: Agent; definition: AgentCaller['definition'] };

/** What may be done to a change that is there. Approval is missing here: no agent ever gets so far. */
export type ChangeVerb = 'comment' | 'block' | 'unblock' | 'close' | 'retry' | 'merge' | 'repair';

/** The route of each verb. A repair is a merge that only people ask for. */
const doorOf = {
  comment: doors.commentChange,
  block: doors.blockChange,
  unblock: doors.unblockChange,
  close: doors.closeChange,
  retry: doors.retryChange,
  merge: doors.mergeChange,
  repair: doors.mergeChange,
} satisfies Record<ChangeVerb, Door>;

/**
 * Refuses what an agent may not do to a change: first by its kind and definition, then by whose change it is. Its own it may
 * close, block, retry and queue; another's it may close with what the table asks for; every main may comment.
 */
export function refuseChangeVerb(asker: Asker, change: Change, verb: ChangeVerb): void {
  if (asker.is === 'person') return;
  const { agent, definition } = asker;
  if (agent.projectId !== change.projectId) throw forbidden('An agent has to do with changes of its own project only.');
  refuseDoor(doorOf[verb], { kind: agent.kind, definition });
  if (verb === 'comment') return;
  if (verb === 'repair') throw forbidden('Only a person says that a change repairs the target branch.');
  if (verb === 'close') {
    if (!isOwn(agent, change)) refuseSpecial(doors.closeChange, { kind: agent.kind, definition });
    return;
  }
  if (!isOwn(agent, change)) throw forbidden(`An agent may ${verb} its own change only; comment on this one instead.`);
  if (verb === 'unblock' && change.hold !== null && change.hold.by !== nameOf(asker)) {
    throw forbidden(`${change.hold.by} holds this change; only a person may take that away.`);
  }
  if (verb === 'retry' && isEjected(change)) refuseRetry(change);
}

/** What fails now and then passes some time, so an agent has one try more for each head. */
function refuseRetry(change: Change): void {
  if (needsPerson({ change })) throw forbidden('This change waits for a person; only a person may try it again.');
  if (change.retriedAt === null) return;
  throw new PawlError('forbidden', 'This commit was tried again before, and failed again.', {
    hint: 'Put right what fails, commit, and run `pawl change open`.',
  });
}

/**
 * Refuses an agent to close what others have something against: it would only be proposed again without that. Who hears of
 * changes closes what agents object to, but not what a person does.
 */
export function refuseClosing(asker: Asker, change: Change, blocking: readonly ChangeComment[]): void {
  refuseChangeVerb(asker, change, 'close');
  if (asker.is === 'person') return;
  const { agent, definition } = asker;
  const { hold } = change;
  const isSettling = meets(definition, doors.closeChange.also.needs);
  if (hold !== null && hold.by !== nameOf(asker) && !(isSettling && hold.by.startsWith(agentPrefix))) {
    throw forbidden(`${hold.by} holds this change; only a person may close it.`);
  }
  const others = blocking.filter(({ agentId }) => agentId !== agent.id && !(isSettling && agentId !== null));
  if (others.length === 0) return;
  throw new PawlError('forbidden', 'Others have objections to this change, so it is not for you to close it.', {
    hint: `Address them, or leave it to a person: pawl change show ${change.id}`,
  });
}

/** Refuses an agent to keep out what repairs a red main. Its reviewer may, and a person. */
export function refuseBlocking(asker: Asker, change: Change, fixerId: string | null): void {
  if (asker.is === 'person' || change.reviewerId === asker.agent.id || fixerId === null) return;
  if (change.agentId !== fixerId && change.standInId !== fixerId) return;
  throw new PawlError('forbidden', 'It repairs the target branch: only a person or its reviewer may hold it up.', {
    hint: 'Say it without [BLOCKING].',
  });
}

/** Whether a change is an agent's: it made it, goes on with it, or has its branch. */
function isOwn({ id, branch, projectId }: Agent, change: Change): boolean {
  if (projectId !== change.projectId) return false;
  return change.agentId === id || change.standInId === id || (branch !== null && branch === change.branch);
}

/**
 * Refuses to let a comment count as addressed by somebody who may not say so: whoever made it may, and a person; the
 * change's author only once it has proposed something else since, and says how that helps. To what a person has said, that
 * has to be reviewed as well.
 */
export function refuseAddressing(asker: Asker, change: Change, comment: ChangeComment, how: string): void {
  if (asker.is === 'person' || comment.agentId === asker.agent.id) return;
  if (!isOwn(asker.agent, change)) {
    throw forbidden('Only its author, the change’s author or a person can say that a comment is addressed.');
  }
  if (comment.head === change.head) {
    throw new PawlError(
      'conflict',
      'Nothing was proposed since that comment was made, so it cannot be addressed yet.',
      {
        hint: 'Commit what it asks for, run `pawl change open`, and then say what you did.',
      },
    );
  }
  if (isForReview(comment, change) && change.reviewedHead !== change.head) {
    throw new PawlError('conflict', 'A person has said that: a person, or a review of the new commit, settles it.', {
      hint: 'Say in a comment what you did, without --addresses, and leave it to them.',
    });
  }
  if (how.trim() === '') throw new PawlError('invalid_input', 'Say how the comment was addressed.');
}

/** What somebody is called in facts and texts. With its blank, no agent's alias can pass for another's name. */
export function nameOf(asker: Asker): string {
  return asker.is === 'person' ? 'a person' : `${agentPrefix}${asker.agent.alias}`;
}

const agentPrefix = 'agent ';

function forbidden(message: string): PawlError {
  return new PawlError('forbidden', message);
}
