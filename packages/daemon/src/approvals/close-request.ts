import type { Approval } from '@pawl/schema/approval/approval';
import { isConnection } from '@pawl/schema/approval/approval-kind';
import { approvalLimits } from '@pawl/schema/approval/approval-limit';
import { closeApproval, markApprovalsSent } from '@pawl/store/sessions/approvals';
import type { WriteTransaction } from '@pawl/store/write-transaction';

type Closing = { end: NonNullable<Approval['end']>; closedBy: string } & Pick<Approval, 'decision' | 'reason'>;

const eventOf = {
  answered: 'approval.answered',
  withdrawn: 'approval.withdrawn',
  expired: 'approval.expired',
} as const;

/**
 * Closes a request with its event, once: the first decision counts. False if it was closed before. The only place where
 * requests close.
 */
export async function closeRequest(tx: WriteTransaction, approval: Approval, closing: Closing): Promise<boolean> {
  const reason = closing.reason?.slice(0, approvalLimits.reasonCharacters) ?? null;
  const isFirst = await closeApproval(tx, approval.id, { ...closing, reason });
  // No session waits for the decision.
  if (closing.end === 'withdrawn' || isConnection(approval)) await markApprovalsSent(tx, [approval.id]);
  if (!isFirst) return false;
  const { id: approvalId, projectId, agentId } = approval;
  const { end, closedBy, decision } = closing;
  tx.emit({ type: eventOf[end], projectId, agentId, data: { approvalId, decision, by: closedBy } });
  return true;
}
