import * as z from 'zod';
import { approve, forAgents, forMains, forPeople } from '../access.ts';
import { answers, answersOrStream, body, defineRoute, idempotency, reference } from '../define-route.ts';
import * as view from './view.ts';

const approval = z.object({ approval: z.string().min(1).max(128) });
const question = z.object({ question: z.string().min(1).max(128) });

/** Questions, permissions, and a person’s inbox. */
export const questionRoutes = {
  askQuestion: defineRoute({
    access: forAgents('ask a question', 'S3-81, S2-09, S2-11, S2-12'),
    method: 'post',
    path: '/api/questions',
    request: { headers: idempotency, body: body(view.askSchema) },
    responses: answers('The question, durable before this answer.', view.questionAnswerSchema),
  }),
  showQuestion: defineRoute({
    access: forAgents('see one of its own questions', 'S3-81'),
    method: 'get',
    path: '/api/questions/{question}',
    request: { params: question },
    responses: answersOrStream(
      'The question; as a stream, one message `ended` when it has ended, at once if it had.',
      view.questionAnswerSchema,
    ),
  }),
  answerQuestion: defineRoute({
    access: forAgents('answer a question', 'S3-82'),
    method: 'post',
    path: '/api/questions/{question}/answer',
    request: { params: question, body: body(view.answerSchema) },
    responses: answers('It is answered, durable before this answer.', view.answeredSchema),
  }),
  noteShown: defineRoute({
    access: forAgents('note that it was shown an answer', 'S3-81'),
    method: 'post',
    path: '/api/questions/{question}/shown',
    request: { params: question },
    responses: answers(
      'The command that asked has shown the answer, so it is not sent by mail.',
      view.questionAnswerSchema,
    ),
  }),
  listen: defineRoute({
    access: forAgents('listen for questions', 'S3-80'),
    method: 'get',
    path: '/api/agents/{reference}/questions',
    request: { params: reference },
    responses: answersOrStream(
      'The open questions to an agent; as a stream, one message `question`: the first that waits, or the next that comes. It is given to no other listener for a while.',
      view.questionListSchema,
    ),
  }),
  inbox: defineRoute({
    access: forPeople('read a person’s inbox', '7.6'),
    method: 'get',
    path: '/api/inbox',
    responses: answers('Everything that waits for the person, oldest first.', view.inboxSchema),
  }),
  listApprovals: defineRoute({
    access: forMains('spawn', 'list requests for approval of the agents below it', 'S2-16, S2-17', approve),
    method: 'get',
    path: '/api/approvals',
    responses: answers('The open requests that the caller may decide, oldest first.', view.approvalListSchema),
  }),
  decideApproval: defineRoute({
    access: forMains('spawn', 'decide requests for approval of the agents below it', 'S2-16, S2-17', approve),
    method: 'post',
    path: '/api/approvals/{approval}/decision',
    request: { params: approval, body: body(view.decisionSchema) },
    responses: answers('The request with its decision; the first one counts.', view.approvalAnswerSchema),
  }),
  showApproval: defineRoute({
    access: forMains('spawn', 'read a request for approval of an agent below it', 'S2-16, S2-17', approve),
    method: 'get',
    path: '/api/approvals/{approval}',
    request: { params: approval },
    responses: answers('The request in full, and its decision.', view.approvalAnswerSchema),
  }),
  askPermission: defineRoute({
    access: forAgents('ask a person for a permission', 'S2-16'),
    method: 'post',
    path: '/api/permissions',
    request: { headers: idempotency, body: body(view.permissionSchema) },
    responses: answers(
      'Whether the person allows it; without an answer in time it is denied.',
      view.permissionAnswerSchema,
    ),
  }),
} as const;
