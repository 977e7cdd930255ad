import { describeRule } from '@pawl/core/rules/describe-rule';
import type { InboxItem } from '@pawl/protocol/questions/view';
import type { Approval } from '@pawl/schema/approval/approval';
import { isConnection } from '@pawl/schema/approval/approval-kind';
import { PawlError } from '@pawl/schema/error';
import { sessionById } from '@pawl/store/sessions/sessions';
import type { Database } from '@pawl/store/tables';
import type { LastingScope } from './answer-approval.ts';
import { ruleForRequest } from './answer-approval.ts';

/** The answers that a request takes, each with its consequence. */
export async function approvalChoices(db: Database, approval: Approval): Promise<InboxItem['choices']> {
  const isOver = isConnection(approval);
  const once = isOver
    ? await lasting(db, approval, '--allow', 'session')
    : [{ option: '--allow', does: 'Allows this one call.' }];
  return [
    ...once,
    ...(isOver ? [] : await lasting(db, approval, '--session', 'session')),
    ...(await lasting(db, approval, '--agent', 'agent')),
    ...(await lasting(db, approval, '--always', 'project')),
    {
      option: '--deny "why"',
      does: isOver ? 'Keeps it refused, and does not ask again for this agent.' : 'Refuses it; the model learns why.',
    },
  ];
}

/** The choice that makes a rule of this scope; none if no rule can allow the request again. */
async function lasting(
  db: Database,
  approval: Approval,
  option: string,
  scope: LastingScope,
): Promise<InboxItem['choices']> {
  if (scope === 'session' && (await sessionById(db, approval.sessionId ?? ''))?.endedAt !== null) return [];
  try {
    return [{ option, does: describeRule(await ruleForRequest(db, approval, scope)) }];
  } catch (error) {
    if (error instanceof PawlError) return [];
    throw error;
  }
}
