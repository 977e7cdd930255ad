import type { OpenAPIHono } from '@hono/zod-openapi';
import { questionRoutes } from '@pawl/protocol/questions/routes';
import type { ApprovalList } from '@pawl/protocol/questions/view';
import type { Approval } from '@pawl/schema/approval/approval';
import { approvalText } from '@pawl/schema/approval/approval-text';
import { PawlError } from '@pawl/schema/error';
import type { Agent } from '@pawl/schema/record';
import { agentById } from '@pawl/store/agents/agents';
import { openApprovals } from '@pawl/store/sessions/approvals';
import type { Context } from 'hono';
import { answerApproval } from '../approvals/answer-approval.ts';
import { decideBelow, isBelow, notBelow } from '../approvals/decide-below.ts';
import type { DefinitionPlatform } from '../definitions/definition-platform.ts';
import type { DoorVariables } from '../platform/http/door.ts';
import { approvalNamed, viewApproval } from './approval-inbox.ts';
import { beginningOf } from './beginning.ts';

/** Requests for approval: a person may see and decide all, an agent those of the agents below it. */
export function addApprovalRoutes(app: OpenAPIHono<DoorVariables>, platform: DefinitionPlatform): void {
  const { db } = platform.store;

  /** The calling agent; null for a person. */
  async function callingAgent(context: Context<DoorVariables>): Promise<Agent | null> {
    const caller = context.get('caller');
    if (caller.kind === 'person') return null;
    const agent = await agentById(db, caller.agentId);
    if (agent === null) throw new PawlError('agent_not_found', 'The caller is not in the registry.');
    return agent;
  }

  async function find(context: Context<DoorVariables>, reference: string): Promise<Approval> {
    const approval = await approvalNamed(db, reference, null);
    const caller = await callingAgent(context);
    if (approval === null) throw new PawlError('not_found', 'There is no such request for approval.');
    if (caller !== null && !(await isBelow(db, caller, approval))) throw notBelow(caller);
    return approval;
  }

  app.openapi(questionRoutes.listApprovals, async (context) => {
    const caller = await callingAgent(context);
    const approvals: ApprovalList['approvals'] = [];
    for (const approval of await openApprovals(db)) {
      if (approval.referredAt === null || (caller !== null && !(await isBelow(db, caller, approval)))) continue;
      const { id, agentId, kind, tool, cwd, owner, askedAt, deadlineAt } = approval;
      const agent = { id: agentId, alias: (await agentById(db, agentId))?.alias ?? 'unknown' };
      const { question: text, leftOutBytes } = beginningOf(approvalText(approval));
      approvals.push({ id, agent, kind, tool, cwd, owner, askedAt, deadlineAt, text, leftOutBytes });
    }
    return context.json({ approvals }, 200);
  });
  app.openapi(questionRoutes.decideApproval, async (context) => {
    const approval = await find(context, context.req.valid('param').approval);
    const { allow, reason } = context.req.valid('json');
    const caller = await callingAgent(context);
    if (caller === null) await answerApproval(platform, approval, { allow, reason, by: 'person' });
    else await decideBelow(platform, caller, approval, { allow, reason });
    return context.json({ approval: await viewApproval(db, approval.id) }, 200);
  });
  app.openapi(questionRoutes.showApproval, async (context) => {
    const { id } = await find(context, context.req.valid('param').approval);
    return context.json({ approval: await viewApproval(db, id) }, 200);
  });
}
