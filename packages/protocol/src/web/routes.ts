import { forPeople } from '../access.ts';
import { answers, body, defineRoute } from '../define-route.ts';
import * as view from './view.ts';

/** Sessions of the page in a browser. */
export const webRoutes = {
  webCode: defineRoute({
    access: forPeople('open the page', '7.23'),
    method: 'post',
    path: '/api/web/code',
    responses: answers(
      'A code that a browser exchanges once, within 30 seconds. Only the home’s token gets one.',
      view.webCodeSchema,
    ),
  }),
  openWebSession: defineRoute({
    access: forPeople('exchange a code', '7.23'),
    method: 'post',
    path: '/api/web/session',
    request: { body: body(view.openWebSessionSchema) },
    responses: answers(
      'Sets the cookie and returns the page’s key. Needs no token, but the exact Origin. A second use of a code revokes the session of the first.',
      view.webKeySchema,
    ),
  }),
  webSessions: defineRoute({
    access: forPeople('list the sessions of browsers', '7.23'),
    method: 'get',
    path: '/api/web/sessions',
    responses: answers('The sessions that are neither revoked nor expired, newest first.', view.webSessionListSchema),
  }),
  revokeWebSessions: defineRoute({
    access: forPeople('revoke sessions of browsers', '7.23'),
    method: 'post',
    path: '/api/web/sessions/revoke',
    request: { body: body(view.revokeWebSessionsSchema) },
    responses: answers('Those that were revoked. Their streams end at once.', view.revokedWebSessionsSchema),
  }),
} as const;
