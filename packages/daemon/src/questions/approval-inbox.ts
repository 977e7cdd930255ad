import type { ReplyBody } from '@pawl/protocol/agents/verb-view';
import type { ApprovalAnswer, InboxItem } from '@pawl/protocol/questions/view';
import type { Approval } from '@pawl/schema/approval/approval';
import { approvalText } from '@pawl/schema/approval/approval-text';
import { PawlError } from '@pawl/schema/error';
import type { Agent } from '@pawl/schema/record';
import { agentById } from '@pawl/store/agents/agents';
import { findApprovals, openApprovals } from '@pawl/store/sessions/approvals';
import type { Database } from '@pawl/store/tables';
import { answerApproval } from '../approvals/answer-approval.ts';
import { approvalChoices } from '../approvals/approval-choices.ts';
import { beginningOf } from './beginning.ts';
import type { Platform } from '../platform/platform.ts';

/** The request with this id, id prefix or asking agent; null if there is none. */
export async function approvalNamed(db: Database, reference: string, agent: Agent | null): Promise<Approval | null> {
  const named = await findApprovals(db, reference);
  const found = named.length > 0 || agent === null ? named : await openApprovals(db, { agentId: agent.id });
  const [first, ...others] = found;
  if (first === undefined || others.length === 0) return first ?? null;
  const ids = found.map(({ id, tool, title }) => `${id}: ${tool} ${title.slice(0, 80)}`).join('\n');
  throw new PawlError('ambiguous', `${JSON.stringify(reference)} matches more than one request.`, {
    hint: `Answer each by its id:\n${ids}`,
  });
}

/** Answers a request of a CLI with yes or no. */
export async function replyToApproval(platform: Platform, approval: Approval, body: ReplyBody): Promise<Agent> {
  const { allow, answer, answers, notNow, again } = body;
  if (notNow === true) {
    const reason = 'No person is available to allow it now. Continue without it, or do it in another way.';
    await answerApproval(platform, approval, { allow: false, reason, by: 'person' });
    return asker(platform.store.db, approval);
  }
  if (allow === undefined || answers !== undefined) {
    throw new PawlError('needs_input', 'This is a request for permission: answer yes or no.', {
      hint: `pawl reply ${approval.id} --allow, or --deny with a reason.`,
    });
  }
  await answerApproval(platform, approval, { allow, reason: answer, again, by: 'person' });
  return asker(platform.store.db, approval);
}

async function asker(db: Database, { agentId }: Approval): Promise<Agent> {
  const agent = await agentById(db, agentId);
  if (agent === null) throw new PawlError('agent_not_found', `There is no agent ${agentId}.`);
  return agent;
}

/** An item of the inbox with its asker; `deadlineAt` is null if it has no deadline of its own. */
export type AskedItem = {
  agent: Agent;
  item: Omit<InboxItem, 'agent' | 'project' | 'deadlineAt'>;
  deadlineAt: number | null;
};

/** The requests that wait for a person. */
export async function approvalItems(db: Database): Promise<AskedItem[]> {
  const items: AskedItem[] = [];
  for (const approval of await openApprovals(db)) {
    const { id, askedAt, deadlineAt, referredAt, owner } = approval;
    if (referredAt === null) continue;
    const questions = [{ id, ...beginningOf(approvalText(approval)) }];
    const choices = await approvalChoices(db, approval);
    items.push({
      agent: await asker(db, approval),
      item: { id, kind: 'permission', askedAt, questions, owner, choices },
      deadlineAt,
    });
  }
  return items;
}

/** A request in full, by its id or id prefix. */
export async function viewApproval(db: Database, reference: string): Promise<ApprovalAnswer['approval']> {
  const approval = await approvalNamed(db, reference, null);
  if (approval === null) throw new PawlError('not_found', 'There is no such request for approval.');
  const { projectId: _p, agentId, sessionId: _s, nativeId: _n, referredAt: _r, ...shown } = approval;
  return { ...shown, agent: { id: agentId, alias: (await agentById(db, agentId))?.alias ?? 'unknown' } };
}
