import type { Access } from '@pawl/schema/access';
import * as z from 'zod';
import { delegate, finalize, forAgents, forMains, forPeople } from '../access.ts';
import { answers, body, defineRoute, idempotency, reference, wholeNumber } from '../define-route.ts';
import * as view from './view.ts';
import {
  completeAnswerSchema,
  completeSchema,
  forkSchema,
  killAnswerSchema,
  killSchema,
  replySchema,
  resumeSchema,
  tellAnswerSchema,
  tellSchema,
  workAnswerSchema,
  workSchema,
} from './verb-view.ts';

/** A verb on one agent without a body. */
function signalRoute<Verb extends string>(access: Access, verb: Verb, description: string) {
  return defineRoute({
    access,
    method: 'post',
    path: `/api/agents/{reference}/${verb}`,
    request: { params: reference },
    responses: answers(description, view.agentAnswerSchema),
  });
}

/** Agents: listing, starting, controlling and ending them. */
export const agentRoutes = {
  listAgents: defineRoute({
    access: forAgents('list agents', '7.23'),
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
  work: defineRoute({
    access: {
      ...forMains('spawn', 'start another agent', 'S2-10, S2-13, S2-17, W2-07', delegate),
      also: { when: 'it takes up a planned task', needs: finalize },
    },
    method: 'post',
    path: '/api/agents',
    request: {
      headers: idempotency,
      body: body(workSchema),
    },
    responses: answers('The new agent, durable before this answer.', workAnswerSchema),
  }),
  inspectAgent: defineRoute({
    access: forAgents('inspect itself', '7.23'),
    method: 'get',
    path: '/api/agents/{reference}',
    request: { params: reference, query: z.object({ worktree: z.enum(['true', 'false']).optional() }) },
    responses: answers(
      'The agent, its sessions, runs and worktree; `worktree=false` spares the look at the files, which is the slow part.',
      view.inspectionSchema,
    ),
  }),
  fork: defineRoute({
    access: forMains('spawn', 'fork', 'S1-31, S2-13, S2-14'),
    method: 'post',
    path: '/api/agents/{reference}/fork',
    request: { params: reference, headers: idempotency, body: body(forkSchema) },
    responses: answers(
      'The child, durable before this answer. `@current` is the caller, or the agent that a person acts as.',
      view.agentAnswerSchema,
    ),
  }),
  stopAgent: defineRoute({
    access: forPeople('stop an agent', '7.3'),
    method: 'post',
    path: '/api/agents/{reference}/stop',
    request: { params: reference },
    responses: answers('The agent after its processes have left.', view.agentAnswerSchema),
  }),
  stopAll: defineRoute({
    access: forPeople('stop all agents', '7.3'),
    method: 'post',
    path: '/api/stop-all',
    responses: answers('Every agent that was at work, after its processes have left.', view.agentsAnswerSchema),
  }),
  resumeAgent: defineRoute({
    access: forPeople('resume an agent', '7.3'),
    method: 'post',
    path: '/api/agents/{reference}/resume',
    request: { params: reference, headers: idempotency, body: body(resumeSchema) },
    responses: answers('The agent with its new run.', view.agentAnswerSchema),
  }),
  tellAgent: defineRoute({
    access: forPeople('message an agent in a person’s name', '7.6'),
    method: 'post',
    path: '/api/agents/{reference}/tell',
    request: { params: reference, headers: idempotency, body: body(tellSchema) },
    responses: answers('How the word reached the agent.', tellAnswerSchema),
  }),
  replyAgent: defineRoute({
    access: forPeople('reply in a person’s name', '7.6'),
    method: 'post',
    path: '/api/agents/{reference}/reply',
    request: { params: reference, headers: idempotency, body: body(replySchema) },
    responses: answers('The agent, going on with the answers to its questions.', view.agentAnswerSchema),
  }),
  pauseAgent: signalRoute(forPeople('pause an agent', '7.3'), 'pause', 'The agent, its processes halted.'),
  continueAgent: signalRoute(forPeople('continue an agent', '7.3'), 'continue', 'The agent, its processes going on.'),
  interruptAgent: signalRoute(
    forPeople('interrupt an agent', '7.3'),
    'interrupt',
    'The agent, asked to leave off what it does.',
  ),
  killAgent: defineRoute({
    access: forAgents('end itself and its descendants', 'S1-19'),
    method: 'post',
    path: '/api/agents/{reference}/kill',
    request: { params: reference, body: body(killSchema) },
    responses: answers('Who died; their processes have left. `@current` is the caller itself.', killAnswerSchema),
  }),
  reapAgent: signalRoute(
    forPeople('hide a dead agent', '7.3'),
    'reap',
    'The dead agent, out of sight; its row and history stay.',
  ),
  completeAgent: defineRoute({
    access: forAgents('complete itself', 'S4-10'),
    method: 'post',
    path: '/api/agents/{reference}/complete',
    request: {
      params: reference,
      body: body(completeSchema),
    },
    responses: answers(
      'The agent, which ends as soon as its process has left. `@current` is the caller itself.',
      completeAnswerSchema,
    ),
  }),
} as const;
