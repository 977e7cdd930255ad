import { agentTools } from './tool/agents.ts';
import { approvalTools } from './tool/approvals.ts';
import { changeTools } from './tool/changes.ts';
import { delegateTools } from './tool/delegate.ts';
import { lockTools } from './tool/locks.ts';
import { mailTools } from './tool/mail.ts';
import { proposalTools } from './tool/proposals.ts';
import { questionTools } from './tool/questions.ts';
import { rosterTools } from './tool/roster.ts';
import { workTools } from './tool/work.ts';
import type { CallerKind, Tool } from './tool.ts';

const tools: readonly Tool[] = [
  ...agentTools,
  ...delegateTools,
  ...rosterTools,
  ...mailTools,
  ...questionTools,
  ...approvalTools,
  ...workTools,
  ...proposalTools,
  ...lockTools,
  ...changeTools,
];

/**
 * The tools of one caller. A program with a person's own token gets the read-only ones, and `send`: a model's call is
 * not the person's, so it starts, ends and answers nothing in their name.
 */
export function toolsFor(caller: CallerKind): readonly Tool[] {
  return tools.filter(({ forAgent, forPerson }) => (caller === 'agent' ? forAgent : forPerson));
}
