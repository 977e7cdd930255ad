import { createRoute } from '@hono/zod-openapi';
import * as z from 'zod';
import { accountRoutes } from './route/account.ts';
import { changeRoutes } from './route/change.ts';
import { completeRoutes } from './route/complete.ts';
import { errandRoutes } from './route/errand.ts';
import { mcpRoutes } from './route/mcp.ts';
import { mailRoutes } from './route/mail.ts';
import { promptRoutes } from './route/prompt.ts';
import { projectRoutes } from './route/project.ts';
import { providerRoutes } from './route/provider.ts';
import { questionRoutes } from './route/question.ts';
import { runRoutes } from './route/run.ts';
import { rosterRoutes } from './route/roster.ts';
import { taskRoutes } from './route/task.ts';
import { trustRoutes } from './route/trust.ts';
import * as view from './view.ts';
import { deskSchema, switchSchema } from './view/desk.ts';
import { doctorSchema } from './view/doctor.ts';
import { historyPageSchema, markSchema, noteAnswerSchema } from './view/history.ts';
import { outputPageSchema } from './view/output.ts';
import { pruneAnswerSchema, pruneSchema, restoreAnswerSchema, worktreeListSchema } from './view/worktree.ts';

const json = <T extends z.ZodType>(schema: T) => ({ 'application/json': { schema } });
const answers = <T extends z.ZodType>(description: string, schema: T) => ({
  200: { description, content: json(schema) },
  default: { description: 'It did not work; the body says why and what to do.', content: json(view.errorViewSchema) },
});
const streamOf = (description: string) => ({
  content: { 'text/event-stream': { schema: z.string() } },
  description,
});

const reference = z.object({ reference: z.string().min(1).max(128) });
const wholeNumber = z.coerce.number().int().nonnegative();

const idempotency = z.object({ 'idempotency-key': z.string().min(8).max(128).optional() });

/** A verb on one agent without a body. */
function signalRoute<Verb extends string>(verb: Verb, description: string) {
  return createRoute({
    method: 'post',
    path: `/api/agents/{reference}/${verb}`,
    request: { params: reference },
    responses: answers(description, view.agentAnswerSchema),
  });
}

/** A verb that adds one note to an agent's history. */
function noteRoute<Verb extends string, Body extends z.ZodType>(verb: Verb, body: Body, description: string) {
  return createRoute({
    method: 'post',
    path: `/api/agents/{reference}/${verb}`,
    request: { params: reference, body: { content: json(body), required: true } },
    responses: answers(description, noteAnswerSchema),
  });
}

/** Every route of the daemon, with method, path, input and answer; the daemon adds only the handler. */
export const routes = {
  health: createRoute({
    method: 'get',
    path: '/healthz',
    responses: answers('The daemon answers.', view.healthSchema),
  }),
  daemon: createRoute({
    method: 'get',
    path: '/api/daemon',
    responses: answers('What runs here, and how it is.', view.daemonViewSchema),
  }),
  stopDaemon: createRoute({
    method: 'post',
    path: '/api/daemon/stop',
    responses: answers('The daemon leaves; agents go on running.', view.stoppingSchema),
  }),
  doctor: createRoute({
    method: 'get',
    path: '/api/doctor',
    responses: answers('What is wrong, and what would help.', doctorSchema),
  }),
  repair: createRoute({
    method: 'post',
    path: '/api/doctor/repair',
    responses: answers('What was put right. Nothing with work in it is ever deleted.', doctorSchema),
  }),
  listProjects: createRoute({
    method: 'get',
    path: '/api/projects',
    responses: answers('The projects.', view.projectListSchema),
  }),
  addProject: createRoute({
    method: 'post',
    path: '/api/projects',
    request: { body: { content: json(view.addProjectSchema), required: true } },
    responses: answers('The project; `created` is false when it was there already.', view.projectAddedSchema),
  }),
  ...projectRoutes,
  ...runRoutes,
  listAgents: createRoute({
    method: 'get',
    path: '/api/agents',
    request: {
      query: z.object({
        project: z.string().max(4096).optional(),
        limit: wholeNumber.max(1000).optional(),
        before: z.string().max(64).optional(),
        all: z.enum(['true', 'false']).optional(),
        reaped: z.enum(['true', 'false']).optional(),
      }),
    },
    responses: answers('The agents, newest first.', view.agentListSchema),
  }),
  work: createRoute({
    method: 'post',
    path: '/api/agents',
    request: {
      headers: idempotency,
      body: { content: json(view.workSchema), required: true },
    },
    responses: answers('The new agent, durable before this answer.', view.workAnswerSchema),
  }),
  inspectAgent: createRoute({
    method: 'get',
    path: '/api/agents/{reference}',
    request: { params: reference, query: z.object({ worktree: z.enum(['true', 'false']).optional() }) },
    responses: answers(
      'The agent, its sessions, runs and worktree; `worktree=false` spares the look at the files, which is the slow part.',
      view.inspectionSchema,
    ),
  }),
  fork: createRoute({
    method: 'post',
    path: '/api/agents/{reference}/fork',
    request: { params: reference, headers: idempotency, body: { content: json(view.forkSchema), required: true } },
    responses: answers(
      'The child, durable before this answer. `@current` is the caller, or the agent that a person acts as.',
      view.agentAnswerSchema,
    ),
  }),
  stopAgent: createRoute({
    method: 'post',
    path: '/api/agents/{reference}/stop',
    request: { params: reference },
    responses: answers('The agent after its processes have left.', view.agentAnswerSchema),
  }),
  stopAll: createRoute({
    method: 'post',
    path: '/api/stop-all',
    responses: answers('Every agent that was at work, after its processes have left.', view.agentsAnswerSchema),
  }),
  resumeAgent: createRoute({
    method: 'post',
    path: '/api/agents/{reference}/resume',
    request: { params: reference, headers: idempotency, body: { content: json(view.resumeSchema), required: true } },
    responses: answers('The agent with its new run.', view.agentAnswerSchema),
  }),
  tellAgent: createRoute({
    method: 'post',
    path: '/api/agents/{reference}/tell',
    request: { params: reference, headers: idempotency, body: { content: json(view.tellSchema), required: true } },
    responses: answers('How the word reached the agent.', view.tellAnswerSchema),
  }),
  replyAgent: createRoute({
    method: 'post',
    path: '/api/agents/{reference}/reply',
    request: { params: reference, headers: idempotency, body: { content: json(view.replySchema), required: true } },
    responses: answers('The agent, going on with the answers to its questions.', view.agentAnswerSchema),
  }),
  pauseAgent: signalRoute('pause', 'The agent, its processes halted.'),
  continueAgent: signalRoute('continue', 'The agent, its processes going on.'),
  interruptAgent: signalRoute('interrupt', 'The agent, asked to leave off what it does.'),
  killAgent: createRoute({
    method: 'post',
    path: '/api/agents/{reference}/kill',
    request: { params: reference, body: { content: json(view.killSchema), required: true } },
    responses: answers('Who died; their processes have left. `@current` is the caller itself.', view.killAnswerSchema),
  }),
  reapAgent: signalRoute('reap', 'The dead agent, out of sight; its row and history stay.'),
  cancelRun: createRoute({
    method: 'post',
    path: '/api/runs/{reference}/cancel',
    request: { params: reference },
    responses: answers(
      'The runs that were cancelled: the one with this id, or the open one of this agent, and all that it began.',
      view.cancelAnswerSchema,
    ),
  }),
  history: createRoute({
    method: 'get',
    path: '/api/agents/{reference}/history',
    request: {
      params: reference,
      query: z.object({
        after: wholeNumber.optional(),
        limit: wholeNumber.min(1).max(1000).optional(),
        /** Includes cleared and rewound messages, marked as such. */
        all: z.enum(['true', 'false']).optional(),
      }),
    },
    responses: answers('A page of the history, inherited and own.', historyPageSchema),
  }),
  clearHistory: noteRoute('clear', view.emptySchema, 'The agent forgets everything up to here; it stays on record.'),
  markHistory: noteRoute('mark', markSchema, 'A place to come back to.'),
  rewindHistory: noteRoute('rewind', markSchema, 'Back at a mark; what came after it stays on record.'),
  desk: createRoute({
    method: 'get',
    path: '/api/desk',
    responses: answers('Who a person acts as.', deskSchema),
  }),
  switchDesk: createRoute({
    method: 'post',
    path: '/api/desk',
    request: { body: { content: json(switchSchema), required: true } },
    responses: answers('The desk after the switch, with the draft that waits there.', deskSchema),
  }),
  definitions: createRoute({
    method: 'get',
    path: '/api/definitions',
    request: { query: z.object({ path: z.string().max(4096).optional() }) },
    responses: answers('What agents there can be in a project, and which files are broken.', view.definitionListSchema),
  }),
  ...trustRoutes,
  gate: createRoute({
    method: 'post',
    path: '/api/agents/{reference}/gate',
    request: { params: reference, body: { content: json(view.gateSchema), required: true } },
    responses: answers('Whether the agent may.', view.gateAnswerSchema),
  }),
  worktrees: createRoute({
    method: 'get',
    path: '/api/worktrees',
    responses: answers('Every worktree of ours: in use, retained, in the trash.', worktreeListSchema),
  }),
  restoreWorktree: createRoute({
    method: 'post',
    path: '/api/worktrees/{entry}/restore',
    request: { params: z.object({ entry: z.string().min(1).max(200) }) },
    responses: answers('The worktree, back where it was.', restoreAnswerSchema),
  }),
  pruneWorktrees: createRoute({
    method: 'post',
    path: '/api/worktrees/prune',
    request: { body: { content: json(pruneSchema), required: true } },
    responses: answers('What was deleted for good, and what was not.', pruneAnswerSchema),
  }),
  top: createRoute({
    method: 'get',
    path: '/api/top',
    responses: answers('What runs now, and what it costs the machine.', view.topSchema),
  }),
  output: createRoute({
    method: 'get',
    path: '/api/agents/{reference}/output',
    request: {
      params: reference,
      query: z.object({
        after: wholeNumber.optional(),
        limit: wholeNumber.max(1000).optional(),
        tail: wholeNumber.max(100_000).optional(),
        format: z.enum(['raw', 'events']).optional(),
      }),
    },
    responses: {
      ...answers('A page of output.', outputPageSchema),
      200: {
        description: 'A page, or with `Accept: text/event-stream` the output as it comes; `id` is the chunk id.',
        content: { ...json(outputPageSchema), ...streamOf('').content },
      },
    },
  }),
  events: createRoute({
    method: 'get',
    path: '/api/events',
    request: {
      headers: z.object({ 'last-event-id': wholeNumber.optional() }),
      query: z.object({
        after: wholeNumber.optional(),
        limit: wholeNumber.max(1000).optional(),
        agent: z.string().max(128).optional(),
        tail: wholeNumber.max(1000).optional(),
      }),
    },
    responses: {
      ...answers('A page of events.', view.eventPageSchema),
      200: {
        description:
          'The event log by `seq`: a stream (the default), or a page with `Accept: application/json`. ' +
          'The stream replays from `Last-Event-ID`; `event: gap` says that the log is not the one the client knew, and where it goes on.',
        content: { ...json(view.eventPageSchema), ...streamOf('').content },
      },
    },
  }),
  ...mcpRoutes,
  ...completeRoutes,
  ...mailRoutes,
  ...promptRoutes,
  ...providerRoutes,
  ...rosterRoutes,
  ...questionRoutes,
  ...taskRoutes,
  ...errandRoutes,
  ...accountRoutes,
  ...changeRoutes,
} as const;
