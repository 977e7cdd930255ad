import { toolArgument } from '@pawl/schema/approval/tool-argument';
import type { Approval } from '@pawl/schema/approval/approval';
import { isConnection } from '@pawl/schema/approval/approval-kind';
import { PawlError } from '@pawl/schema/error';
import type { Agent } from '@pawl/schema/record';
import { parseObject } from '@pawl/wire/json-line';
import type { DefinitionPlatform } from '../definitions/definition-platform.ts';
import { askGate } from '../definitions/home-definitions.ts';
import { judgeByRules } from '../rules/judge.ts';
import { askedRequestOf } from './rule-request.ts';

/** A decision without a person, or null if a person has to decide. */
export type Judged = Pick<Approval, 'closedBy' | 'decision' | 'reason'> & { closedBy: string };

/** Judges a request by the agent's definition, then by the rules that count for it. */
export async function judgeApproval(
  platform: DefinitionPlatform,
  approval: Approval,
  agent: Agent,
): Promise<Judged | null> {
  const { tool, detail } = approval;
  // A refused connection is no tool: whichever tool made it was allowed.
  if (!isConnection(approval)) {
    const gate = await gateAnswer(platform, agent, { tool, input: toolArgument(tool, parseObject(detail)) });
    if (!gate.allowed) return { closedBy: 'definition', decision: 'deny', reason: gate.reason };
  }
  const { effect, reason } = await judgeByRules(platform, agent, approval.sessionId, askedRequestOf(approval));
  return effect === 'ask' ? null : { closedBy: 'rule', decision: effect, reason };
}

/** An agent whose definition is gone may use nothing. */
async function gateAnswer(
  platform: DefinitionPlatform,
  agent: Agent,
  question: { tool: string; input: string | undefined },
) {
  try {
    return await askGate(platform, agent, question);
  } catch (error) {
    if (!(error instanceof PawlError) || error.code !== 'not_found') throw error;
    return { allowed: false, reason: error.message };
  }
}
