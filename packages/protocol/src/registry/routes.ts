import { forPeople } from '../access.ts';
import { answers, body, defineRoute } from '../define-route.ts';
import * as view from './view.ts';

/** The agent that a person acts as. */
export const selectionRoutes = {
  desk: defineRoute({
    access: forPeople('see who a person acts as', '7.1'),
    method: 'get',
    path: '/api/desk',
    responses: answers('The agent that a person acts as.', view.selectionSchema),
  }),
  switchDesk: defineRoute({
    access: forPeople('switch who a person acts as', '7.1'),
    method: 'post',
    path: '/api/desk',
    request: { body: body(view.switchSchema) },
    responses: answers('The selection after the switch, with the draft for that agent.', view.selectionSchema),
  }),
} as const;
