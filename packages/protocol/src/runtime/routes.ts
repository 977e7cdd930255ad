import { forPeople } from '../access.ts';
import { answers, body, defineRoute, idempotency } from '../define-route.ts';
import * as view from './view.ts';

/** The runtime contract of main agents and subagents (docs/runtime-contract.md). Its fields are in snake_case. */
export const runtimeRoutes = {
  agentRuns: defineRoute({
    access: forPeople('list all runs', 'S2-22'),
    method: 'get',
    path: '/api/agent-runs',
    request: { query: view.runsQuerySchema },
    responses: answers('The runs of a project or a chat thread, newest first.', view.runRecordsSchema),
  }),
  agentChildren: defineRoute({
    access: forPeople('list the runs that a run began', 'S2-23'),
    method: 'get',
    path: '/api/agent-children',
    request: { query: view.runQuerySchema },
    responses: answers('The runs that a run began, oldest first.', view.runRecordsSchema),
  }),
  agentContext: defineRoute({
    access: forPeople('read what a run said and did', 'S2-24'),
    method: 'get',
    path: '/api/agent-context',
    request: { query: view.contextQuerySchema },
    responses: answers('What a run said and did, counted or whole.', view.runContextSchema),
  }),
  agentCancel: defineRoute({
    access: forPeople('cancel any run', 'S2-25'),
    method: 'post',
    path: '/api/agent-cancel',
    request: { body: body(view.cancelSchema) },
    responses: answers(
      'The runs that were cancelled: this one, and the running ones that it began.',
      view.cancelledSchema,
    ),
  }),
  chat: defineRoute({
    access: forPeople('talk to an agent in a person’s name', 'S2-26'),
    method: 'post',
    path: '/api/chat',
    request: { headers: idempotency, body: body(view.chatSchema) },
    responses: answers('How the message reached the agent. A subagent takes none: 400.', view.chatAnswerSchema),
  }),
  runtimeSettings: defineRoute({
    access: forPeople('read how the agents of a project work', 'S2-26'),
    method: 'get',
    path: '/api/settings',
    request: { query: view.settingsQuerySchema },
    responses: answers('How the agents of a project work: chat or auto.', view.settingsAnswerSchema),
  }),
  changeRuntimeSettings: defineRoute({
    access: forPeople('change how the agents of a project work', 'S2-26'),
    method: 'post',
    path: '/api/settings',
    request: { body: body(view.settingsSchema) },
    responses: answers('The settings after the change; later turns follow them.', view.settingsAnswerSchema),
  }),
  workspaceTree: defineRoute({
    access: forPeople('see the files that agents are changing', 'S2-26'),
    method: 'get',
    path: '/api/workspace/tree',
    request: { query: view.settingsQuerySchema },
    responses: answers(
      'The uncommitted files of running agents, as a tree below the project.',
      view.workspaceTreeSchema,
    ),
  }),
  workspaceState: defineRoute({
    access: forPeople('see what all agents of a project do', 'W2-21'),
    method: 'get',
    path: '/api/workspace/state',
    request: { query: view.settingsQuerySchema },
    responses: answers('The living agents of a project, their status and queues.', view.workspaceStateSchema),
  }),
} as const;
