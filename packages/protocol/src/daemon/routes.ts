import * as z from 'zod';
import { nameSchema } from '@pawl/schema/id';
import { forAgents, forPeople } from '../access.ts';
import { answers, answersOrStream, body, defineRoute, wholeNumber } from '../define-route.ts';
import { path } from '../fields.ts';
import * as view from './view.ts';

/** The daemon itself: health, events, the caller’s identity, MCP. */
export const daemonRoutes = {
  health: defineRoute({
    access: forAgents("check the daemon's health", '7.23'),
    method: 'get',
    path: '/healthz',
    responses: answers('The daemon answers.', view.healthSchema),
  }),
  daemon: defineRoute({
    access: forAgents("see the daemon's status", '7.23'),
    method: 'get',
    path: '/api/daemon',
    responses: answers('What runs here, and how it is.', view.daemonViewSchema),
  }),
  stopDaemon: defineRoute({
    access: forPeople('stop the daemon', '7.23'),
    method: 'post',
    path: '/api/daemon/stop',
    responses: answers('The daemon stops; agents keep running.', view.stoppingSchema),
  }),
  doctor: defineRoute({
    access: forPeople('diagnose the home', '7.23'),
    method: 'get',
    path: '/api/doctor',
    responses: answers('What is wrong, and what would help.', view.doctorSchema),
  }),
  repair: defineRoute({
    access: forPeople('repair the home', '7.23'),
    method: 'post',
    path: '/api/doctor/repair',
    responses: answers('What was put right. Nothing with work in it is ever deleted.', view.doctorSchema),
  }),
  events: defineRoute({
    access: forAgents('read its own events', '7.23'),
    method: 'get',
    path: '/api/events',
    request: {
      headers: z.object({ 'last-event-id': wholeNumber.optional() }),
      query: z.object({
        after: wholeNumber.optional(),
        limit: wholeNumber.max(1000).optional(),
        agent: z.string().max(128).optional(),
        tail: wholeNumber.max(1000).optional(),
        /** `log` (the default): the event log. `runtime`: the events of docs/runtime-contract.md, as a stream only. */
        view: z.enum(['log', 'runtime']).optional(),
        project_root: path.optional(),
        session_id: nameSchema.optional(),
      }),
    },
    responses: answersOrStream(
      'The event log by `seq`: a stream (the default), or a page with `Accept: application/json`. ' +
        'The stream replays from `Last-Event-ID`; `event: gap` says that the log is not the one the client knew, and where the new one continues.',
      view.eventPageSchema,
    ),
  }),
  whoami: defineRoute({
    access: forAgents('see its own identity', '7.23'),
    method: 'get',
    path: '/api/whoami',
    responses: answers('Whom the token stands for.', view.whoamiSchema),
  }),
  mcp: defineRoute({
    access: forAgents('call a tool', '7.23'),
    method: 'post',
    path: '/mcp',
    request: { body: body(z.unknown()) },
    responses: {
      ...answersOrStream(
        'One message of the Model Context Protocol, without a session: the answer, or a stream that ends with it.',
        z.unknown(),
      ),
      202: { description: 'A notification was taken.' },
    },
  }),
} as const;
