import type { OpenAPIHono } from '@hono/zod-openapi';
import { addAccountRoutes } from './accounts/account-routes.ts';
import { addAgentRoutes } from './agents/agent-routes.ts';
import { addErrandRoutes } from './agents/errands/errand-routes.ts';
import { addRunRoutes } from './agents/run-routes.ts';
import { addChangeRoutes } from './changes/change-routes.ts';
import { projectRequired } from './changes/change-scope.ts';
import { openFinished } from './changes/changes.ts';
import { whenDoneFor } from './changes/merge-rules.ts';
import { projectAround } from './definitions/home-definitions.ts';
import type { DaemonControl } from './door/daemon-routes.ts';
import { addDaemonRoutes } from './door/daemon-routes.ts';
import { addHomeRoutes } from './door/home-routes.ts';
import { addInboxRoutes } from './door/inbox-routes.ts';
import { addMcpRoutes } from './door/mcp-routes.ts';
import type { StreamParts } from './door/stream-routes.ts';
import { addStreamRoutes } from './door/stream-routes.ts';
import { addMailRoutes } from './mail/mail-routes.ts';
import type { Rooms } from './open-rooms.ts';
import { addPlanRoutes } from './plan/plan-routes.ts';
import { addProposalRoutes } from './plan/proposal-routes.ts';
import { addReviewRoutes } from './plan/review-routes.ts';
import { addTaskRoutes } from './plan/task-routes.ts';
import type { DoorVariables } from './platform/http/door.ts';
import { addProjectRoutes } from './projects/project-routes.ts';
import { addPromptRoutes } from './prompts/prompt-routes.ts';
import { addModelRoutes } from './providers/model-routes.ts';
import { addProviderRoutes } from './providers/provider-routes.ts';
import { addApprovalRoutes } from './questions/approval-routes.ts';
import { addQuestionRoutes } from './questions/question-routes.ts';
import { addQueueRoutes } from './queue/queue-routes.ts';
import { addRuleRoutes } from './rules/rule-routes.ts';
import { addRuntimeRoutes } from './runtime/runtime-routes.ts';
import { addCompleteRoutes } from './supervision/complete-routes.ts';
import { addRosterRoutes } from './supervision/roster-routes.ts';

/** Adds the routes of every room; each takes the rooms that it needs. */
export function addRoutes(
  app: OpenAPIHono<DoorVariables>,
  rooms: Rooms,
  { feeds, daemon }: { feeds: StreamParts['feeds']; daemon: DaemonControl },
): void {
  const { platform } = rooms;
  addDaemonRoutes(app, { ...rooms, daemon });
  addAgentRoutes(app, { ...rooms, whenDone: (agent, project) => whenDoneFor(platform, agent, project) });
  addHomeRoutes(app, rooms);
  addInboxRoutes(app, rooms);
  addAccountRoutes(app, rooms);
  addMcpRoutes(app, rooms);
  addMailRoutes(app, rooms);
  addPromptRoutes(app, rooms);
  addProjectRoutes(app, rooms);
  addProviderRoutes(app, rooms);
  addModelRoutes(app, rooms);
  addRosterRoutes(app, rooms);
  addQuestionRoutes(app, rooms);
  addApprovalRoutes(app, platform);
  addRuleRoutes(app, {
    platform,
    find: {
      agent: (word) => rooms.agents.find(word, 'living'),
      around: (path) => projectAround(platform, path),
      project: (named) => projectRequired(platform, { is: 'person' }, named),
    },
  });
  addStreamRoutes(app, { ...rooms, feeds });
  addRuntimeRoutes(app, { ...rooms, named: (path) => projectRequired(platform, { is: 'person' }, { path }) });
  addTaskRoutes(app, rooms);
  addPlanRoutes(app, rooms);
  addProposalRoutes(app, rooms);
  addReviewRoutes(app, rooms);
  addErrandRoutes(app, rooms);
  addRunRoutes(app, { ...rooms, openFinished: (project) => openFinished(platform, project) });
  addCompleteRoutes(app, rooms);
  addChangeRoutes(app, { ...rooms, queue: rooms.mergeQueues });
  addQueueRoutes(app, rooms);
}
