import { createRoute } from '@hono/zod-openapi';
import * as z from 'zod';
import { errorViewSchema } from '../view.ts';
import * as view from '../view/mail.ts';

const json = <T extends z.ZodType>(schema: T) => ({ 'application/json': { schema } });
const answers = <T extends z.ZodType>(description: string, schema: T) => ({
  200: { description, content: json(schema) },
  default: { description: 'It did not work; the body says why and what to do.', content: json(errorViewSchema) },
});
const mail = z.object({ mail: z.string().min(1).max(64) });
const idempotency = z.object({ 'idempotency-key': z.string().min(8).max(128).optional() });

/** Listing changes nothing; only its recipient fetches, reads and acknowledges a mail. */
export const mailRoutes = {
  sendMail: createRoute({
    method: 'post',
    path: '/api/mail',
    request: { headers: idempotency, body: { content: json(view.sendMailSchema), required: true } },
    responses: answers(
      'The mail, durable before this answer; one for each recipient. Its sender is the caller.',
      view.mailsAnswerSchema,
    ),
  }),
  listMail: createRoute({
    method: 'get',
    path: '/api/mail',
    request: { query: view.mailQuerySchema },
    responses: answers('A mailbox as it is. An agent sees its own, a person any.', view.mailListSchema),
  }),
  fetchMail: createRoute({
    method: 'post',
    path: '/api/mail/fetch',
    request: { body: { content: json(view.fetchMailSchema), required: true } },
    responses: answers('The caller’s own mailbox; what waited there is delivered by this.', view.mailListSchema),
  }),
  waitMail: createRoute({
    method: 'post',
    path: '/api/mail/wait',
    request: { body: { content: json(view.waitMailSchema), required: true } },
    responses: answers(
      'The next mail, or what came of each agent. It is delivered by this, and read when the caller says so.',
      view.waitedSchema,
    ),
  }),
  showMail: createRoute({
    method: 'get',
    path: '/api/mail/{mail}',
    request: { params: mail },
    responses: answers('All of a mail, for both its sides and for a person.', view.mailAnswerSchema),
  }),
  readMail: createRoute({
    method: 'post',
    path: '/api/mail/{mail}/read',
    request: { params: mail },
    responses: answers(
      'All of a mail: its id, or its number in what was fetched last. It is read by this when the caller is its recipient.',
      view.mailAnswerSchema,
    ),
  }),
  ackMail: createRoute({
    method: 'post',
    path: '/api/mail/{mail}/ack',
    request: { params: mail },
    responses: answers('The mail, dealt with; only its recipient may say so.', view.mailAnswerSchema),
  }),
} as const;
