import * as z from 'zod';
import { forAgents } from '../access.ts';
import { answers, body, defineRoute, idempotency } from '../define-route.ts';
import * as view from './view.ts';

const mail = z.object({ mail: z.string().min(1).max(64) });

/** Mail. Listing changes nothing; only its recipient fetches, reads and acknowledges a mail. */
export const mailRoutes = {
  sendMail: defineRoute({
    access: forAgents('send mail', 'S1-25, S2-09, S2-11, S2-12'),
    method: 'post',
    path: '/api/mail',
    request: { headers: idempotency, body: body(view.sendMailSchema) },
    responses: answers(
      'The mail, durable before this answer; one for each recipient. Its sender is the caller.',
      view.mailsAnswerSchema,
    ),
  }),
  listMail: defineRoute({
    access: forAgents('list its own mail', 'S1-26'),
    method: 'get',
    path: '/api/mail',
    request: { query: view.mailQuerySchema },
    responses: answers('A mailbox as it is. An agent sees its own, a person any.', view.mailListSchema),
  }),
  fetchMail: defineRoute({
    access: forAgents('fetch its own mail', 'S1-26'),
    method: 'post',
    path: '/api/mail/fetch',
    request: { body: body(view.fetchMailSchema) },
    responses: answers('The caller’s own mailbox; what waited there is delivered by this.', view.mailListSchema),
  }),
  waitMail: defineRoute({
    access: forAgents('wait for its own mail', 'S1-26'),
    method: 'post',
    path: '/api/mail/wait',
    request: { body: body(view.waitMailSchema) },
    responses: answers(
      'The next mail, or what came of each agent. It is delivered by this, and read when the caller says so.',
      view.waitedSchema,
    ),
  }),
  showMail: defineRoute({
    access: forAgents('see one of its own mails', 'S1-27'),
    method: 'get',
    path: '/api/mail/{mail}',
    request: { params: mail },
    responses: answers('All of a mail, for both its sides and for a person.', view.mailAnswerSchema),
  }),
  readMail: defineRoute({
    access: forAgents('read its own mail', 'S1-27'),
    method: 'post',
    path: '/api/mail/{mail}/read',
    request: { params: mail },
    responses: answers(
      'All of a mail: its id, or its number in what was fetched last. It is read by this when the caller is its recipient.',
      view.mailAnswerSchema,
    ),
  }),
  ackMail: defineRoute({
    access: forAgents('acknowledge its own mail', 'S4-16'),
    method: 'post',
    path: '/api/mail/{mail}/ack',
    request: { params: mail },
    responses: answers('The mail, dealt with; only its recipient may say so.', view.mailAnswerSchema),
  }),
} as const;
