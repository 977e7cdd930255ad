import { createRoute } from '@hono/zod-openapi';
import * as z from 'zod';
import { errorViewSchema } from '../view.ts';
import * as view from '../view/question.ts';

const json = <T extends z.ZodType>(schema: T) => ({ 'application/json': { schema } });
const answers = <T extends z.ZodType>(description: string, schema: T) => ({
  200: { description, content: json(schema) },
  default: { description: 'It did not work; the body says why and what to do.', content: json(errorViewSchema) },
});
/** A page, or, with `Accept: text/event-stream`, a stream. */
const pageOrStream = <T extends z.ZodType>(description: string, schema: T) => ({
  ...answers(description, schema),
  200: { description, content: { ...json(schema), 'text/event-stream': { schema: z.string() } } },
});
const idempotency = z.object({ 'idempotency-key': z.string().min(8).max(128).optional() });
const question = z.object({ question: z.string().min(1).max(128) });

/** Questions, and a person's inbox. */
export const questionRoutes = {
  askQuestion: createRoute({
    method: 'post',
    path: '/api/questions',
    request: { headers: idempotency, body: { content: json(view.askSchema), required: true } },
    responses: answers('The question, durable before this answer.', view.questionAnswerSchema),
  }),
  showQuestion: createRoute({
    method: 'get',
    path: '/api/questions/{question}',
    request: { params: question },
    responses: pageOrStream(
      'The question; as a stream, one message `ended` when it has ended, at once if it had.',
      view.questionAnswerSchema,
    ),
  }),
  answerQuestion: createRoute({
    method: 'post',
    path: '/api/questions/{question}/answer',
    request: { params: question, body: { content: json(view.answerSchema), required: true } },
    responses: answers('It is answered, durable before this answer.', view.answeredSchema),
  }),
  noteShown: createRoute({
    method: 'post',
    path: '/api/questions/{question}/shown',
    request: { params: question },
    responses: answers(
      'The command that asked has shown the answer, so it is not sent by mail.',
      view.questionAnswerSchema,
    ),
  }),
  listen: createRoute({
    method: 'get',
    path: '/api/agents/{reference}/questions',
    request: { params: z.object({ reference: z.string().min(1).max(128) }) },
    responses: pageOrStream(
      'The open questions to an agent; as a stream, one message `question`: the first that waits, or the next that comes. It is given to no other listener for a while.',
      view.questionListSchema,
    ),
  }),
  inbox: createRoute({
    method: 'get',
    path: '/api/inbox',
    responses: answers('Everything that waits for the person, oldest first.', view.inboxSchema),
  }),
  askPermission: createRoute({
    method: 'post',
    path: '/api/permissions',
    request: { headers: idempotency, body: { content: json(view.permissionSchema), required: true } },
    responses: answers('Whether the person allows it; nobody in time is a no.', view.permissionAnswerSchema),
  }),
} as const;
