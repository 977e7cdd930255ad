import { ruleFromRequest } from '@pawl/core/rules/propose-rule';
import type { Approval } from '@pawl/schema/approval/approval';
import { isConnection } from '@pawl/schema/approval/approval-kind';
import { crashPoint } from '@pawl/schema/crash-point';
import { PawlError } from '@pawl/schema/error';
import { agentById } from '@pawl/store/agents/agents';
import { approvalById } from '@pawl/store/sessions/approvals';
import { sessionById } from '@pawl/store/sessions/sessions';
import type { Database } from '@pawl/store/tables';
import type { Platform } from '../platform/platform.ts';
import { ruleRequest } from '../rules/judge.ts';
import type { NewRule } from '../rules/rules.ts';
import { addRule } from '../rules/rules.ts';
import { closeRequest } from './close-request.ts';
import { askedRequestOf } from './rule-request.ts';

/** How long a permission may last that outlives its request. */
export type LastingScope = 'session' | 'agent' | 'project';

export type ApprovalReply = {
  allow: boolean;
  reason: string | undefined;
  /** Makes a rule that allows the same again. */
  again?: LastingScope | undefined;
  /** `person`, or the id of the agent that decides. */
  by: string;
};

/** Records the decision about a request. The first one counts; a second one is a conflict that names it. */
export async function answerApproval(platform: Platform, known: Approval, reply: ApprovalReply): Promise<void> {
  const { allow, by } = reply;
  const decision = allow ? 'allow' : 'deny';
  const said = reply.reason?.trim() ?? '';
  const reason =
    said !== ''
      ? said
      : allow
        ? null
        : `${by === 'person' ? 'The person' : 'Your supervisor'} denied this. Do not try it again in another way.`;
  // A refused connection is over, so only a rule can allow the next one.
  const scope = reply.again ?? (isConnection(known) ? 'session' : undefined);
  const rule = allow && scope !== undefined ? await ruleForRequest(platform.store.db, known, scope) : null;
  await platform.store.write(async (tx) => {
    const approval = (await approvalById(tx.db, known.id)) ?? known;
    if (isSame(approval, { by, decision, reason })) return;
    if (approval.closedAt !== null) throw await closedAlready(tx.db, approval);
    if (await isTooLate(tx.db, approval, rule?.scope)) throw gone(approval);
    await closeRequest(tx, approval, { end: 'answered', closedBy: by, decision, reason });
    if (rule !== null) await addRule(tx, { ...rule, madeBy: by, requestId: approval.id });
  });
  crashPoint('approval.after_answer');
}

/** The narrowest rule that allows the request again; an error if none can. */
export async function ruleForRequest(
  db: Database,
  approval: Approval,
  scope: LastingScope,
): Promise<{ scope: LastingScope; scopeId: string } & Pick<NewRule, 'effect' | 'match'>> {
  const { sessionId, agentId, projectId } = approval;
  const scopeId = { session: sessionId, agent: agentId, project: projectId }[scope];
  const agent = await agentById(db, approval.agentId);
  if (agent === null || scopeId === null) {
    throw new PawlError('invalid_input', `This request has no ${scope}, so no rule can be made for it.`, {
      hint: 'Use --allow.',
    });
  }
  const { effect, match } = ruleFromRequest(await ruleRequest(agent, askedRequestOf(approval)), scope);
  return { scope, scopeId, effect, match };
}

/** True if the session that asked has ended. A refused connection may still be allowed to the sessions that follow. */
async function isTooLate(db: Database, approval: Approval, scope: LastingScope | undefined): Promise<boolean> {
  const { sessionId } = approval;
  if (sessionId === null || (isConnection(approval) && scope !== 'session')) return false;
  return (await sessionById(db, sessionId))?.endedAt !== null;
}

/** True for a repeated request, as after a crash: it is no conflict. */
function isSame(
  { closedBy, decision, reason }: Approval,
  given: { by: string; decision: string; reason: string | null },
): boolean {
  return closedBy === given.by && decision === given.decision && reason === given.reason;
}

async function closedAlready(db: Database, approval: Approval): Promise<PawlError> {
  const { end, decision, closedBy } = approval;
  if (end === 'withdrawn') return gone(approval);
  const agent = closedBy === null ? null : await agentById(db, closedBy);
  const who =
    agent?.alias ?? { person: 'a person', rule: 'a rule', policy: 'the deadline' }[closedBy ?? ''] ?? closedBy;
  const how = decision === 'allow' ? 'allowed' : 'denied';
  return new PawlError('conflict', `The request ${approval.id} was ${how} already, by ${who}.`, {
    hint: 'To say something more to the agent, use pawl send.',
  });
}

function gone(approval: Approval): PawlError {
  const { id } = approval;
  if (isConnection(approval) && approval.closedAt === null) {
    return new PawlError(
      'conflict',
      `The session of the request ${id} has ended, so it cannot be allowed for that session.`,
      {
        hint: 'Use --agent or --always; or --deny.',
      },
    );
  }
  return new PawlError('conflict', `Nobody waits for an answer to the request ${id} any more: it was withdrawn.`, {
    hint: 'See `pawl inbox`.',
  });
}
