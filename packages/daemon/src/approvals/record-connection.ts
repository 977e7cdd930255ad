import type { Approval } from '@pawl/schema/approval/approval';
import { connectionTool } from '@pawl/schema/approval/approval-kind';
import { approvalLimits } from '@pawl/schema/approval/approval-limit';
import type { Agent, Session } from '@pawl/schema/record';
import { countOpenApprovals, insertApproval, lastApprovalOfAgent } from '@pawl/store/sessions/approvals';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import { emptyApproval } from './record-request.ts';

/** A host that the proxy refused to a session, since it is not listed. */
export type RefusedHost = { host: string; port: number };

/**
 * Stores a request for each refused host, one for each agent and host: not again while it is open, nor after a person
 * has denied it.
 */
export async function recordConnections(
  tx: WriteTransaction,
  { agent, session }: { agent: Agent; session: Session },
  refused: readonly RefusedHost[],
): Promise<void> {
  for (const { host, port } of refused) {
    const name = `${host.includes(':') ? `[${host}]` : host}:${port}`;
    const nativeId = `network ${name}`;
    const known = await lastApprovalOfAgent(tx.db, agent.id, nativeId);
    if (known !== null && (known.closedAt === null || known.decision === 'deny')) continue;
    if ((await countOpenApprovals(tx.db, session.id)) >= approvalLimits.openPerSession) return;
    const approval: Approval = {
      ...emptyApproval(agent, tx.now),
      sessionId: session.id,
      nativeId,
      kind: 'network',
      tool: connectionTool,
      title: name,
      detail: JSON.stringify({ host: name }),
      cwd: null,
    };
    if (!(await insertApproval(tx, approval))) continue;
    const { id: approvalId, kind, tool, owner } = approval;
    tx.emit({
      type: 'approval.asked',
      projectId: agent.projectId,
      agentId: agent.id,
      data: { approvalId, kind, tool, owner },
    });
  }
}
