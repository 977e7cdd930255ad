import { whyNotAllow } from '@pawl/core/approvals/may-allow';
import { judgeRequest } from '@pawl/core/rules/judge-request';
import type { Approval } from '@pawl/schema/approval/approval';
import { isConnection } from '@pawl/schema/approval/approval-kind';
import { toolArgument } from '@pawl/schema/approval/tool-argument';
import { PawlError } from '@pawl/schema/error';
import type { Agent } from '@pawl/schema/record';
import { agentById } from '@pawl/store/agents/agents';
import type { Database } from '@pawl/store/tables';
import { parseObject } from '@pawl/wire/json-line';
import type { DefinitionPlatform } from '../definitions/definition-platform.ts';
import { askGate } from '../definitions/home-definitions.ts';
import { activeRules, ruleRequest } from '../rules/judge.ts';
import { answerApproval } from './answer-approval.ts';
import { askedRequestOf } from './rule-request.ts';

/** Answers a request of an agent below the caller, within the caller's own rights. */
export async function decideBelow(
  platform: DefinitionPlatform,
  caller: Agent,
  approval: Approval,
  { allow, reason }: { allow: boolean; reason: string | undefined },
): Promise<void> {
  if (!(await isBelow(platform.store.db, caller, approval))) throw notBelow(caller);
  const why = allow ? await whyNot(platform, caller, approval) : null;
  if (why !== null) {
    throw new PawlError('forbidden', `${caller.alias} may not allow this request: ${why}.`, {
      hint: 'Deny it with a reason, or leave it to the person.',
    });
  }
  await answerApproval(platform, approval, { allow, reason, by: caller.id });
}

/** True if the agent that asks is a descendant of the caller. */
export async function isBelow(db: Database, caller: Agent, { agentId }: Approval): Promise<boolean> {
  if (agentId === caller.id) return false;
  for (let agent = await agentById(db, agentId); agent !== null; agent = await agentById(db, agent.parentId ?? ''))
    if (agent.parentId === caller.id) return true;
  return false;
}

export function notBelow({ alias }: Agent): PawlError {
  return new PawlError('forbidden', `This request is not of an agent below ${alias}.`, {
    hint: 'Only the person and the agents above the one that asks may decide it.',
  });
}

/** Judges the request as if the caller made it, at the place where its descendant wants to do it. */
async function whyNot(platform: DefinitionPlatform, caller: Agent, approval: Approval): Promise<string | null> {
  const asking = await agentById(platform.store.db, approval.agentId);
  if (asking === null) return 'its agent is gone';
  const { rules, trouble } = await activeRules(platform, caller, null);
  if (trouble !== null) return `some rules cannot be read: ${trouble}`;
  const judged = judgeRequest(rules, await ruleRequest(asking, askedRequestOf(approval)));
  const { tool, detail } = approval;
  const argument = toolArgument(tool, parseObject(detail));
  const gate = isConnection(approval) ? null : await askGate(platform, caller, { tool, input: argument });
  return whyNotAllow({ access: caller.access, gate, judged });
}
