import { forAgents } from '../access.ts';
import { answers, defineRoute, reference } from '../define-route.ts';
import * as view from './view.ts';

/** Prompts and input files of agents. */
export const promptRoutes = {
  agentPrompt: defineRoute({
    access: forAgents('read its own prompt', '7.23'),
    method: 'get',
    path: '/api/agents/{reference}/prompt',
    request: { params: reference, query: view.promptQuerySchema },
    responses: answers('What the agent was told at the beginning of a session.', view.promptViewSchema),
  }),
  agentInputs: defineRoute({
    access: forAgents('read its own inputs', '7.23'),
    method: 'get',
    path: '/api/agents/{reference}/inputs',
    request: { params: reference },
    responses: answers('The files that the agent was given.', view.inputViewSchema),
  }),
} as const;
