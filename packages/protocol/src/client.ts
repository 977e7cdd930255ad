import type { AccountClient } from './accounts/client.ts';
import { accountClient } from './accounts/client.ts';
import type { AgentClient } from './agents/client.ts';
import { agentClient } from './agents/client.ts';
import type { ErrandClient } from './agents/errands/client.ts';
import { errandClient } from './agents/errands/client.ts';
import type { HistoryClient } from './agents/history/client.ts';
import { historyClient } from './agents/history/client.ts';
import type { RunClient } from './agents/runs/client.ts';
import { runClient } from './agents/runs/client.ts';
import type { WorktreeClient } from './agents/worktrees/client.ts';
import { worktreeClient } from './agents/worktrees/client.ts';
import type { ChangeClient } from './changes/client.ts';
import { changeClient } from './changes/client.ts';
import type { DaemonClient } from './daemon/client.ts';
import { daemonClient } from './daemon/client.ts';
import type { DefinitionClient } from './definitions/client.ts';
import { definitionClient } from './definitions/client.ts';
import type { MailClient } from './mail/client.ts';
import { mailClient } from './mail/client.ts';
import type { PlanClient } from './plan/plan-client.ts';
import { planClient } from './plan/plan-client.ts';
import type { ProposalClient } from './plan/proposal-client.ts';
import { proposalClient } from './plan/proposal-client.ts';
import type { ReviewClient } from './plan/review-client.ts';
import { reviewClient } from './plan/review-client.ts';
import type { TaskClient } from './plan/client.ts';
import { taskClient } from './plan/client.ts';
import type { ProjectClient } from './projects/client.ts';
import { projectClient } from './projects/client.ts';
import type { PromptClient } from './prompts/client.ts';
import { promptClient } from './prompts/client.ts';
import type { QuestionClient } from './questions/client.ts';
import { questionClient } from './questions/client.ts';
import type { QueueClient } from './queue/client.ts';
import { queueClient } from './queue/client.ts';
import type { SelectionClient } from './registry/client.ts';
import { selectionClient } from './registry/client.ts';
import type { RosterClient } from './roster/client.ts';
import { rosterClient } from './roster/client.ts';
import type { RuleClient } from './rules/client.ts';
import { ruleClient } from './rules/client.ts';
import type { RuntimeClient } from './runtime/client.ts';
import { runtimeClient } from './runtime/client.ts';
import type { SessionClient } from './sessions/client.ts';
import { sessionClient } from './sessions/client.ts';
import type { WebClient } from './web/client.ts';
import { webClient } from './web/client.ts';
import type { RequestOptions } from './requests.ts';
import { createRequests } from './requests.ts';
import type { Transport } from './transport.ts';

/** The daemon's client. Loads nothing heavy, so that a short command stays fast. */
export type Client = AccountClient &
  AgentClient &
  ErrandClient &
  HistoryClient &
  RunClient &
  WorktreeClient &
  ChangeClient &
  DaemonClient &
  DefinitionClient &
  MailClient &
  TaskClient &
  PlanClient &
  ProposalClient &
  ReviewClient &
  ProjectClient &
  PromptClient &
  QuestionClient &
  QueueClient &
  SelectionClient &
  RosterClient &
  RuleClient &
  RuntimeClient &
  SessionClient &
  WebClient;

/** A client over a transport. Runs in browsers, too. */
export function createClient(transport: Transport, options: RequestOptions = {}): Client {
  const requests = createRequests(transport, options);
  return {
    ...accountClient(requests),
    ...agentClient(requests),
    ...errandClient(requests),
    ...historyClient(requests),
    ...runClient(requests),
    ...worktreeClient(requests),
    ...changeClient(requests),
    ...daemonClient(requests),
    ...definitionClient(requests),
    ...mailClient(requests),
    ...taskClient(requests),
    ...planClient(requests),
    ...proposalClient(requests),
    ...reviewClient(requests),
    ...projectClient(requests),
    ...promptClient(requests),
    ...questionClient(requests),
    ...queueClient(requests),
    ...selectionClient(requests),
    ...rosterClient(requests),
    ...ruleClient(requests),
    ...runtimeClient(requests),
    ...sessionClient(requests),
    ...webClient(requests),
  };
}
