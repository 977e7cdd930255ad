import * as z from 'zod';
import { forAgents, forPeople } from '../access.ts';
import { answers, body, defineRoute, reference } from '../define-route.ts';
import * as view from './view.ts';

/** Definitions, a person’s trust in a repository’s files, and tool permissions. */
export const definitionRoutes = {
  definitions: defineRoute({
    access: forAgents('list definitions', '7.16'),
    method: 'get',
    path: '/api/definitions',
    request: { query: z.object({ path: z.string().max(4096).optional() }) },
    responses: answers('What agents there can be in a project, and which files are broken.', view.definitionListSchema),
  }),
  trustList: defineRoute({
    access: forPeople('list trusted files', '7.16'),
    method: 'get',
    path: '/api/trust',
    request: { query: view.trustQuerySchema },
    responses: answers(
      'The definition and settings files that need trust, and what they would do.',
      view.trustListSchema,
    ),
  }),
  trust: defineRoute({
    access: forPeople('trust a repository’s files', '7.16'),
    method: 'post',
    path: '/api/trust',
    request: { body: body(view.trustBodySchema) },
    responses: answers('The files of the repository that are trusted as they are now.', view.trustAnswerSchema),
  }),
  gate: defineRoute({
    access: forAgents('ask what its definition allows', 'S2-16, S2-17'),
    method: 'post',
    path: '/api/agents/{reference}/gate',
    request: { params: reference, body: body(view.gateSchema) },
    responses: answers('Whether the agent may.', view.gateAnswerSchema),
  }),
  lockPaths: defineRoute({
    access: forAgents('lock paths for itself', 'W2-06'),
    method: 'post',
    path: '/api/agents/{reference}/locks',
    request: { params: reference, body: body(view.lockBodySchema) },
    responses: answers('The lock; its id releases it.', view.lockAnswerSchema),
  }),
  listLocks: defineRoute({
    access: forAgents('list locked paths', 'W2-06'),
    method: 'get',
    path: '/api/agents/{reference}/locks',
    request: { params: reference },
    responses: answers('The locks in the agent’s project.', view.lockListSchema),
  }),
  unlockPaths: defineRoute({
    access: forAgents('release locked paths', 'W2-06'),
    method: 'post',
    path: '/api/agents/{reference}/locks/{lock}/release',
    request: { params: reference.extend({ lock: z.string().min(1).max(64) }), body: body(z.object({})) },
    responses: answers('Whether the lock was still in force.', view.unlockAnswerSchema),
  }),
} as const;
