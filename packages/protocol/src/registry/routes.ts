import { forPeople } from '../access.ts';
import { answers, body, defineRoute } from '../define-route.ts';
import * as view from './view.ts';

/** The agent that a person acts as. */
export const deskRoutes = {
  desk: defineRoute({
    access: forPeople('see a person’s desk', '7.1'),
    method: 'get',
    path: '/api/desk',
    responses: answers('Who a person acts as.', view.deskSchema),
  }),
  switchDesk: defineRoute({
    access: forPeople('switch a person’s desk', '7.1'),
    method: 'post',
    path: '/api/desk',
    request: { body: body(view.switchSchema) },
    responses: answers('The desk after the switch, with the draft that waits there.', view.deskSchema),
  }),
} as const;
