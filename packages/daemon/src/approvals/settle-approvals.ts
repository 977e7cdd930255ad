import { firstLine } from '@pawl/core/shorten';
import type { Approval } from '@pawl/schema/approval/approval';
import { isConnection } from '@pawl/schema/approval/approval-kind';
import { crashPoint } from '@pawl/schema/crash-point';
import { limits } from '@pawl/schema/limit';
import type { Agent } from '@pawl/schema/record';
import { agentView } from '@pawl/store/agents/agent-views';
import { agentById } from '@pawl/store/agents/agents';
import { approvalById, delayApproval, openApprovals, referApproval } from '@pawl/store/sessions/approvals';
import { sessionById } from '@pawl/store/sessions/sessions';
import type { Database } from '@pawl/store/tables';
import type { DefinitionPlatform } from '../definitions/definition-platform.ts';
import { rightsOf } from '../definitions/home-definitions.ts';
import { tellSupervisor } from '../mail/tell-supervisor.ts';
import { closeRequest } from './close-request.ts';
import { judgeApproval } from './judge-approval.ts';
import { withdraw } from './record-request.ts';

/** Judges new requests, withdraws those of ended sessions, and applies the policy to those that are overdue. */
export async function settleApprovals(platform: DefinitionPlatform, now: number): Promise<void> {
  const { db } = platform.store;
  for (let page = await openApprovals(db); page.length > 0;) {
    for (const approval of page) await settle(platform, approval, now);
    page = page.length < limits.pageRows ? [] : await openApprovals(db, { after: page.at(-1) ?? null });
  }
}

async function settle(platform: DefinitionPlatform, approval: Approval, now: number): Promise<void> {
  const { store } = platform;
  const view = await agentView(store.db, approval.agentId);
  if (view === null) return;
  const gone = await whyGone(store.db, approval, view);
  if (gone !== null) return store.write((tx) => withdraw(tx, approval, gone));
  if (approval.referredAt === null) return judge(platform, approval, view.agent);
  if (approval.deadlineAt !== null && approval.deadlineAt <= now) await overdue(platform, approval, view.agent);
}

/** Why a request needs no answer any more; null if its session still waits. */
async function whyGone(
  db: Database,
  approval: Approval,
  { agent, run }: NonNullable<Awaited<ReturnType<typeof agentView>>>,
): Promise<string | null> {
  if (agent.endedAt !== null) return 'its agent has ended';
  // A refused connection is of use to the agent's next session, too.
  if (isConnection(approval)) return null;
  const { sessionId } = approval;
  if (sessionId === null) return run === null || run.outcome !== null ? 'its session has ended' : null;
  return (await sessionById(db, sessionId))?.endedAt === null ? null : 'its session has ended';
}

async function judge(platform: DefinitionPlatform, approval: Approval, agent: Agent): Promise<void> {
  const { store, choices } = platform;
  const judged = await judgeApproval(platform, approval, agent);
  const waitMs = isConnection(approval)
    ? null
    : (choices.questions.deadlineMs ?? (approval.sessionId === null ? limits.questionMs : null));
  const supervisor = judged === null ? await decidingSupervisor(platform, agent) : null;
  await store.write(async (tx) => {
    if (judged !== null) return void (await closeRequest(tx, approval, { end: 'answered', ...judged }));
    if (!(await referApproval(tx, approval.id, waitMs === null ? null : tx.now + waitMs))) return;
    const { id: approvalId, projectId, agentId, kind, tool, owner } = approval;
    tx.emit({ type: 'approval.referred', projectId, agentId, data: { approvalId, kind, tool, owner } });
    if (supervisor === null) return;
    const what = firstLine(`${tool}: ${approval.title}`, limits.labelCharacters);
    const how = 'You may decide it with approval_list and approval_answer, or leave it to the person.';
    await tellSupervisor(tx, agent, `${agent.alias} asks for approval, request ${approvalId}: ${what}\n${how}`);
  });
  crashPoint('approval.after_judge');
}

/** The supervisor of an agent, if its definition may decide requests; null otherwise. */
async function decidingSupervisor(platform: DefinitionPlatform, agent: Agent): Promise<Agent | null> {
  const supervisor = await agentById(platform.store.db, agent.supervisorId ?? agent.parentId ?? '');
  if (supervisor === null || supervisor.parentId === null || supervisor.endedAt !== null) return null;
  const { definition } = await rightsOf(platform, supervisor);
  return definition.policy.allow.includes('Approve') ? supervisor : null;
}

/** Leaves an overdue request open, or denies it, and tells the agent's supervisor once. */
async function overdue(platform: DefinitionPlatform, known: Approval, agent: Agent): Promise<void> {
  const { store, choices } = platform;
  const excerpt = firstLine(known.title, limits.labelCharacters);
  await store.write(async (tx) => {
    const approval = await approvalById(tx.db, known.id);
    if (approval === null || approval.closedAt !== null) return;
    // A program that waits over HTTP has no other end.
    if (choices.questions.policy === 'park' && approval.sessionId !== null) {
      await delayApproval(tx, approval.id);
      await tellSupervisor(
        tx,
        agent,
        `${agent.alias} waits: it asked for approval, and has no answer so far: ${excerpt}`,
      );
      return;
    }
    const reason = 'Nobody answered in time. Continue without it, or do it in another way.';
    await closeRequest(tx, approval, { end: 'expired', closedBy: 'policy', decision: 'deny', reason });
    const text = `${agent.alias} was denied its request, since there was no answer in time: ${excerpt}`;
    await tellSupervisor(tx, agent, text);
  });
}
