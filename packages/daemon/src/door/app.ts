import { OpenAPIHono } from '@hono/zod-openapi';
import { openapi, routes } from '@pawl/protocol/routes';
import { version } from '@pawl/protocol/node/programs';
import type { DaemonView } from '@pawl/protocol/daemon/view';
import { PawlError } from '@pawl/schema/error';
import { agentById } from '@pawl/store/agents/agents';
import { listProjects } from '@pawl/store/projects/projects';
import * as z from 'zod';
import type { EventFeed } from '../platform/event-feed.ts';
import type { OutputFeed } from '../sessions/output-feed.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { addRuntimeRoutes } from '../runtime/runtime-routes.ts';
import type { Agents } from '../agents/agents.ts';
import type { ProjectCrews } from '../projects/project-crew.ts';
import type { Doctor } from './doctor.ts';
import { addProject } from '../projects/projects.ts';
import { currentAgent } from '../registry/current-agent.ts';
import type { createDesk } from '../agents/desk.ts';
import type { Barrier } from '../agents/barrier.ts';
import type { MailRoom } from '../mail/mail.ts';
import type { Adoption } from '../supervision/adopted.ts';
import type { PersonInbox } from '../questions/inbox.ts';
import type { Questions } from '../questions/questions.ts';
import type { Signals } from '../agents/signals.ts';
import type { MergeQueues } from '../queue/merge-queues.ts';
import type { Reconciler } from '../sessions/reconcile/reconciler.ts';
import type { SessionPlatform } from '../accounts/session-platform.ts';
import type { DoorVariables } from '../platform/http/door.ts';
import { lockDoor, selfOnly } from '../platform/http/door.ts';
import { failed } from '../platform/http/failure.ts';
import { callerRights, gateAgents } from './agent-gate.ts';
import { maskRequests } from './mask-request.ts';
import { addAccountRoutes } from '../accounts/account-routes.ts';
import { addAgentRoutes } from '../agents/agent-routes.ts';
import { addChangeRoutes } from '../changes/change-routes.ts';
import { addCompleteRoutes } from '../supervision/complete-routes.ts';
import { addErrandRoutes } from '../agents/errands/errand-routes.ts';
import { addHomeRoutes } from './home-routes.ts';
import { addInboxRoutes } from './inbox-routes.ts';
import { projectRequired } from '../changes/change-scope.ts';
import { projectAround } from '../definitions/home-definitions.ts';
import { openFinished } from '../changes/changes.ts';
import { whenDoneFor } from '../changes/merge-rules.ts';
import { addMcpRoutes } from './mcp-routes.ts';
import { addMailRoutes } from '../mail/mail-routes.ts';
import { addPromptRoutes } from '../prompts/prompt-routes.ts';
import { addProjectRoutes } from '../projects/project-routes.ts';
import { addModelRoutes } from '../providers/model-routes.ts';
import { addProviderRoutes } from '../providers/provider-routes.ts';
import { addQueueRoutes } from '../queue/queue-routes.ts';
import { addRosterRoutes } from '../supervision/roster-routes.ts';
import { addApprovalRoutes } from '../questions/approval-routes.ts';
import { addQuestionRoutes } from '../questions/question-routes.ts';
import { addRuleRoutes } from '../rules/rule-routes.ts';
import { addRunRoutes } from '../agents/run-routes.ts';
import { addStreamRoutes } from './stream-routes.ts';
import { addPlanRoutes } from '../plan/plan-routes.ts';
import { addProposalRoutes } from '../plan/proposal-routes.ts';
import { addTaskRoutes } from '../plan/task-routes.ts';

export type AppParts = {
  platform: SessionPlatform;
  agents: Agents;
  reconciler: Reconciler;
  signals: Signals;
  mailRoom: MailRoom;
  adoption: Adoption;
  questions: Questions;
  inbox: PersonInbox;
  barrier: Barrier;
  mergeQueues: Pick<MergeQueues, 'recordTarget' | 'checkMain'>;
  desk: ReturnType<typeof createDesk>;
  doctor: Doctor;
  crews: ProjectCrews;
  feeds: { events: EventFeed; output: OutputFeed };
  runtime: Runtime;
  port(): number | null;
  describe(): Promise<DaemonView>;
  requestStop(): void;
};

/** All routes with their handlers, behind the door. */
export function buildApp(parts: AppParts): OpenAPIHono<DoorVariables> {
  const { platform } = parts;
  const app = lockedApp(parts);
  addDaemonRoutes(app, parts);
  addAgentRoutes(app, { ...parts, whenDone: (agent, project) => whenDoneFor(platform, agent, project) });
  addHomeRoutes(app, parts);
  addInboxRoutes(app, parts);
  addAccountRoutes(app, parts);
  addMcpRoutes(app, parts);
  addMailRoutes(app, parts);
  addPromptRoutes(app, parts);
  addProjectRoutes(app, parts);
  addProviderRoutes(app, parts);
  addModelRoutes(app, parts);
  addRosterRoutes(app, parts);
  addQuestionRoutes(app, parts);
  addApprovalRoutes(app, platform);
  addRuleRoutes(app, {
    platform,
    find: {
      agent: (word) => parts.agents.find(word, 'living'),
      around: (path) => projectAround(platform, path),
      project: (named) => projectRequired(platform, { is: 'person' }, named),
    },
  });
  addStreamRoutes(app, parts);
  addRuntimeRoutes(app, { ...parts, named: (path) => projectRequired(platform, { is: 'person' }, { path }) });
  addTaskRoutes(app, parts);
  addPlanRoutes(app, parts);
  addProposalRoutes(app, parts);
  addErrandRoutes(app, parts);
  addRunRoutes(app, { ...parts, openFinished: (project) => openFinished(platform, project) });
  addCompleteRoutes(app, parts);
  addChangeRoutes(app, { ...parts, queue: parts.mergeQueues });
  addQueueRoutes(app, parts);
  app.doc31(openapi.path, {
    openapi: '3.1.0',
    info: {
      title: 'Pawl',
      version,
      description: 'The daemon of one home. Every route but /healthz needs the bearer token.',
    },
  });
  return app;
}

/** An app without routes that authenticates and authorises callers before it reads a request. */
function lockedApp({ platform, port }: Pick<AppParts, 'platform' | 'port'>): OpenAPIHono<DoorVariables> {
  const app = new OpenAPIHono<DoorVariables>({
    defaultHook(result) {
      if (!result.success) throw new PawlError('invalid_input', z.prettifyError(result.error), { cause: result.error });
    },
  });
  app.onError((error, context) => failed(error, context, platform));
  app.notFound((context) =>
    failed(
      new PawlError('not_found', 'There is nothing at this path.', { hint: 'See /api/openapi.json.' }),
      context,
      platform,
    ),
  );
  app.use(
    lockDoor({
      authority: platform.authority,
      port,
      async isLivingAgent(agentId) {
        const agent = await agentById(platform.store.db, agentId);
        return agent !== null && agent.endedAt === null;
      },
    }),
  );

  // Authorise before reading the request.
  gateAgents(app, Object.values(routes), (agentId) => callerRights(platform, agentId));
  maskRequests(app, platform);

  app.use(async (context, next) => {
    const { method, path } = context.req;
    // Log every request that changes something, with its path.
    if (method !== 'GET')
      platform.log.info({ method, path, caller: context.get('caller'), host: context.req.header('host') }, 'request');
    await next();
  });
  return app;
}

function addDaemonRoutes(app: OpenAPIHono<DoorVariables>, parts: AppParts): void {
  const { platform, agents } = parts;
  app.openapi(routes.health, (context) => context.json({ status: 'ok' as const, version }, 200));
  app.openapi(routes.daemon, async (context) => context.json(await parts.describe(), 200));
  app.openapi(routes.stopDaemon, (context) => {
    parts.requestStop();
    return context.json({ stopping: true as const, pid: process.pid }, 200);
  });
  app.openapi(routes.doctor, async (context) => context.json(await parts.doctor.examine(), 200));
  app.openapi(routes.repair, async (context) => context.json(await parts.doctor.repair(), 200));
  app.openapi(routes.listProjects, async (context) =>
    context.json({ projects: await listProjects(platform.store.db) }, 200),
  );
  app.openapi(routes.addProject, async (context) => {
    const added = await addProject(platform, context.req.valid('json'));
    if (added.trackedAgain) await parts.crews.tryOne(added.project);
    return context.json(added, 200);
  });
  app.openapi(routes.listAgents, async (context) => {
    const { all, reaped, ...query } = context.req.valid('query');
    await parts.adoption.look();
    const list = await agents.list({ ...query, all: all === 'true', reaped: reaped === 'true' });
    const current = context.get('caller').kind === 'person' ? (await currentAgent(platform.store.db)).id : null;
    return context.json({ ...list, current }, 200);
  });
  app.openapi(routes.inspectAgent, async (context) => {
    const agent = await agents.find(context.req.valid('param').reference);
    selfOnly(context, agent.id);
    const { worktree } = context.req.valid('query');
    return context.json(await agents.inspect(agent.id, { worktree: worktree !== 'false' }), 200);
  });
}
