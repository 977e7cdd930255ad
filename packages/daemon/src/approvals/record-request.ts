import type { Approval } from '@pawl/schema/approval/approval';
import { approvalLimits } from '@pawl/schema/approval/approval-limit';
import { newId } from '@pawl/schema/id';
import { directoryOf } from '@pawl/schema/place';
import type { Agent, Session } from '@pawl/schema/record';
import type { StreamEvent } from '@pawl/schema/stream-event';
import { approvalOfCli, countOpenApprovals, insertApproval } from '@pawl/store/sessions/approvals';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import { closeRequest } from './close-request.ts';

type RequestEvent = Extract<StreamEvent, { type: 'approval-request' }>;
type CancelEvent = Extract<StreamEvent, { type: 'approval-cancel' }>;

/** Stores what a session's output asks for, and withdraws what it no longer waits for, with the output itself. */
export async function recordApprovals(
  tx: WriteTransaction,
  { agent, session }: { agent: Agent; session: Session },
  events: readonly (RequestEvent | CancelEvent)[],
): Promise<void> {
  if (events.length === 0) return;
  let open = await countOpenApprovals(tx.db, session.id);
  for (const event of events) {
    if (event.type === 'approval-cancel') {
      const known = await approvalOfCli(tx.db, session.id, event.nativeId);
      if (known !== null && known.closedAt === null) open -= 1;
      if (known !== null) await withdraw(tx, known, 'its CLI no longer waits for an answer');
      continue;
    }
    const approval = { ...emptyApproval(agent, tx.now), ...requested(event), sessionId: session.id };
    if (!(await insertApproval(tx, approval))) continue;
    const reason = whyNotAsked(event, open);
    if (reason !== null) {
      await closeRequest(tx, approval, { end: 'answered', closedBy: 'limit', decision: 'deny', reason });
      continue;
    }
    open += 1;
    const { id: approvalId, kind, tool, owner } = approval;
    const data = { approvalId, kind, tool, owner };
    tx.emit({ type: 'approval.asked', projectId: agent.projectId, agentId: agent.id, data });
  }
}

/** A request of an agent, before its content is known. */
export function emptyApproval(agent: Agent, now: number): Approval {
  return {
    id: newId(),
    projectId: agent.projectId,
    agentId: agent.id,
    sessionId: null,
    provider: agent.provider,
    nativeId: '',
    kind: 'tool',
    tool: '',
    title: '',
    detail: '{}',
    cwd: directoryOf(agent),
    owner: null,
    askedAt: now,
    referredAt: null,
    deadlineAt: null,
    closedAt: null,
    end: null,
    closedBy: null,
    decision: null,
    reason: null,
    sentAt: null,
  };
}

function requested({ nativeId, kind, tool, title, detail, cwd, owner }: RequestEvent): Partial<Approval> {
  const fits = Buffer.byteLength(detail) <= approvalLimits.detailBytes;
  return { nativeId, kind, tool, title, detail: fits ? detail : '{}', ...(cwd === null ? {} : { cwd }), owner };
}

/** Why a person is not asked; null if one may be. */
function whyNotAsked({ tooLong, detail }: RequestEvent, open: number): string | null {
  if (tooLong || Buffer.byteLength(detail) > approvalLimits.detailBytes)
    return `a request has at most ${approvalLimits.detailBytes} bytes, and this one has more: the person was not asked`;
  if (open < approvalLimits.openPerSession) return null;
  return `${open} requests of this session are waiting for an answer already: the person was not asked`;
}

/** Closes a request whose CLI no longer waits. An unsent decision is dropped. */
export async function withdraw(tx: WriteTransaction, approval: Approval, reason: string): Promise<void> {
  await closeRequest(tx, approval, { end: 'withdrawn', closedBy: 'session', decision: null, reason });
}
