import type { PermissionAnswer } from '@pawl/protocol/questions/view';
import type { Approval } from '@pawl/schema/approval/approval';
import { approvalLimits } from '@pawl/schema/approval/approval-limit';
import { limits } from '@pawl/schema/limit';
import type { Agent } from '@pawl/schema/record';
import { approvalById, insertApproval, openApprovals } from '@pawl/store/sessions/approvals';
import { approvalKindOf } from '@pawl/wire/approval-line';
import { toolInput } from '@pawl/wire/json-line';
import { idOfRequest, rememberRequest } from '../platform/idempotency.ts';
import type { Platform } from '../platform/platform.ts';
import { createWakeable } from '../platform/wakeable.ts';
import { emptyApproval } from './record-request.ts';

type PermissionRequest = {
  agent: Agent;
  tool: string;
  input: Record<string, unknown>;
  key: string | undefined;
  signal: AbortSignal;
};

/**
 * Asks for an approval on an agent's behalf, over HTTP, and waits for the decision. Denies at once a request that is too
 * long to review. A repeated request, after a daemon crash, waits for the same decision.
 */
export async function requestPermission(platform: Platform, request: PermissionRequest): Promise<PermissionAnswer> {
  const detail = JSON.stringify(request.input);
  const bytes = Buffer.byteLength(detail);
  if (bytes > approvalLimits.detailBytes) {
    const message = `a request has at most ${approvalLimits.detailBytes} bytes, and this one has ${bytes}: the person was not asked`;
    return { behavior: 'deny', message, conversationId: null };
  }
  const id = await recordPermission(platform, request, detail);
  if (id === null) {
    const message = `${approvalLimits.openPerSession} requests are waiting for an answer already: the person was not asked`;
    return { behavior: 'deny', message, conversationId: null };
  }
  const closed = await untilClosed(platform, id, request.signal);
  return { behavior: closed.decision ?? 'deny', message: closed.reason ?? '', conversationId: id };
}

/** Stores a request, once for each key, and returns its id; null if too many wait. */
async function recordPermission(
  { store }: Platform,
  { agent, tool, input, key }: PermissionRequest,
  detail: string,
): Promise<string | null> {
  return store.write(async (tx) => {
    const known = await idOfRequest(tx.db, key);
    if (known !== null) return known;
    if ((await openApprovals(tx.db, { agentId: agent.id })).length >= approvalLimits.openPerSession) return null;
    const title = (toolInput(input) || tool).slice(0, approvalLimits.titleCharacters);
    const empty = emptyApproval(agent, tx.now);
    const approval: Approval = { ...empty, nativeId: empty.id, kind: approvalKindOf(tool), tool, title, detail };
    await insertApproval(tx, approval);
    await rememberRequest(tx, key, approval.id);
    const data = { approvalId: approval.id, kind: approval.kind, tool, owner: null };
    tx.emit({ type: 'approval.asked', projectId: agent.projectId, agentId: agent.id, data });
    return approval.id;
  });
}

async function untilClosed({ store }: Platform, id: string, signal: AbortSignal): Promise<Approval> {
  const wakes = createWakeable();
  const unfollow = store.onCommit(({ events }) => {
    if (events.some(({ type }) => type.startsWith('approval.'))) wakes.wake();
  });
  try {
    for (;;) {
      const version = wakes.version();
      const approval = await approvalById(store.db, id);
      if (approval !== null && approval.closedAt !== null) return approval;
      await wakes.wait(version, limits.heartbeatMs, signal);
    }
  } finally {
    unfollow();
  }
}
