import type { OpenAPIHono } from '@hono/zod-openapi';
import { questionRoutes } from '@pawl/protocol/questions/routes';
import { routes } from '@pawl/protocol/routes';
import type { AskBody, QuestionView } from '@pawl/protocol/questions/view';
import { PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import type { Question } from '@pawl/schema/mail';
import type { Agent } from '@pawl/schema/record';
import { agentById } from '@pawl/store/agents/agents';
import { findQuestions, openQuestionsTo } from '@pawl/store/mail/questions';
import type { Database } from '@pawl/store/tables';
import type { Context } from 'hono';
import { requestPermission } from '../approvals/request-permission.ts';
import type { Target } from './question-target.ts';
import { rootAgent } from '../platform/root-agent.ts';
import type { DefinitionPlatform } from '../definitions/definition-platform.ts';
import type { Agents } from '../agents/agents.ts';
import type { PersonInbox } from './inbox.ts';
import type { Questions } from './questions.ts';
import type { DoorVariables } from '../platform/http/door.ts';
import { requestKey, selfOnly } from '../platform/http/door.ts';
import type { OpenStream } from '../platform/http/stream-slots.ts';
import { streamSlots } from '../platform/http/stream-slots.ts';
import { eventStream } from '../platform/http/sse.ts';

type QuestionRouteParts = { platform: DefinitionPlatform; agents: Agents; questions: Questions; inbox: PersonInbox };

/** Questions, the inbox, and requests for permission. An agent asks, listens and answers only as itself. */
export function addQuestionRoutes(app: OpenAPIHono<DoorVariables>, parts: QuestionRouteParts): void {
  const openStream = streamSlots((open) => `${open} commands are already waiting for questions or answers.`);
  addAskingRoutes(app, parts, openStream);
  addListenRoute(app, parts, openStream);
  addReplyRoutes(app, parts);
}

function addAskingRoutes(app: OpenAPIHono<DoorVariables>, parts: QuestionRouteParts, openStream: OpenStream): void {
  const { platform, questions } = parts;
  const { db } = platform.store;
  app.openapi(questionRoutes.askQuestion, async (context) => {
    const body = context.req.valid('json');
    const from = await askerOf(parts, context, body.from);
    const key = requestKey(context, `ask ${from.id}`, context.req.valid('header')['idempotency-key']);
    const timeoutMs = body.timeoutMs ?? null;
    const question = await questions.ask({ from, target: targetOf(body), text: body.question, timeoutMs, key });
    return context.json({ question: await viewQuestion(db, question) }, 200);
  });
  app.openapi(questionRoutes.showQuestion, async (context) => {
    const question = await find(db, context, context.req.valid('param').question);
    if (!wantsStream(context)) return context.json({ question: await viewQuestion(db, question) }, 200);
    const isAsker = (await callerAgent(db, context)).id === question.fromId;
    return streamOne(db, context, openStream, 'ended', () => {
      const { end, leave } = questions.follow(question.id, isAsker ? 'asker' : 'onlooker');
      return { next: end, leave };
    });
  });
  app.openapi(questionRoutes.answerQuestion, async (context) => {
    const question = await find(db, context, context.req.valid('param').question);
    if (question.toId !== (await callerAgent(db, context)).id) {
      throw new PawlError('forbidden', 'Only the recipient may answer.');
    }
    await questions.answer(question, context.req.valid('json').answer);
    return context.json({ conversationId: question.id, status: 'answered' as const }, 200);
  });
  app.openapi(questionRoutes.noteShown, async (context) => {
    const question = await find(db, context, context.req.valid('param').question);
    selfOnly(context, question.fromId);
    await questions.shown(question);
    return context.json({ question: await viewQuestion(db, question) }, 200);
  });
}

function addListenRoute(app: OpenAPIHono<DoorVariables>, parts: QuestionRouteParts, openStream: OpenStream): void {
  const { agents, questions } = parts;
  const { db } = parts.platform.store;
  app.openapi(questionRoutes.listen, async (context) => {
    const agent = await agents.find(context.req.valid('param').reference);
    selfOnly(context, agent.id);
    if (!wantsStream(context)) {
      const open = await openQuestionsTo(db, agent.id);
      return context.json({ questions: await Promise.all(open.map((each) => viewQuestion(db, each))) }, 200);
    }
    if (agent.endedAt !== null) throw new PawlError('conflict', `${agent.alias} is dead, so it cannot be asked.`);
    return streamOne(db, context, openStream, 'question', () => ({
      next: (timeoutMs, signal) => questions.listen(agent.id, timeoutMs, signal),
      leave() {},
    }));
  });
}

function addReplyRoutes(app: OpenAPIHono<DoorVariables>, { platform, agents, inbox }: QuestionRouteParts): void {
  app.openapi(routes.replyAgent, async (context) => {
    const { reference } = context.req.valid('param');
    const key = requestKey(context, `reply ${reference}`, context.req.valid('header')['idempotency-key']);
    const asker = await inbox.reply(reference, context.req.valid('json'), key);
    return context.json({ agent: await agents.view(asker.id) }, 200);
  });
  app.openapi(questionRoutes.askPermission, async (context) => {
    const { tool, input } = context.req.valid('json');
    const agent = await callerAgent(platform.store.db, context);
    if (context.get('caller').kind === 'person') throw new PawlError('invalid_input', 'A person needs no permission.');
    const key = requestKey(context, 'permission', context.req.valid('header')['idempotency-key']);
    const { signal } = context.req.raw;
    return context.json(await requestPermission(platform, { agent, tool, input, key, signal }), 200);
  });
}

/** The caller as an agent; a person is agent 0 here, whichever agent they act as elsewhere. */
async function callerAgent(db: Database, context: Context<DoorVariables>): Promise<Agent> {
  const caller = context.get('caller');
  const agent = caller.kind === 'person' ? await rootAgent(db) : await agentById(db, caller.agentId);
  if (agent === null) throw new PawlError('agent_not_found', 'The caller is not in the registry.');
  return agent;
}

async function askerOf(
  { platform, agents }: QuestionRouteParts,
  context: Context<DoorVariables>,
  reference: string | undefined,
): Promise<Agent> {
  const caller = await callerAgent(platform.store.db, context);
  if (reference === undefined) return caller;
  const named = await agents.find(reference, 'living');
  if (context.get('caller').kind === 'person' || named.id === caller.id) return named;
  throw new PawlError('forbidden', 'Agents may only ask as themselves.', {
    hint: `--from is ${caller.id} here, and may be omitted.`,
  });
}

async function find(db: Database, context: Context<DoorVariables>, reference: string): Promise<Question> {
  const [first, ...others] = await findQuestions(db, reference);
  const shown = JSON.stringify(reference.slice(0, 80));
  if (first === undefined) throw new PawlError('not_found', `There is no question ${shown}.`);
  if (others.length > 0) throw new PawlError('ambiguous', `${shown} matches more than one question.`);
  const caller = await callerAgent(db, context);
  if (context.get('caller').kind === 'person' || caller.id === first.fromId || caller.id === first.toId) return first;
  throw new PawlError('forbidden', 'This question is between other agents.');
}

type Wait = { next(timeoutMs: number, signal: AbortSignal): Promise<Question | null>; leave(): void };

/** A stream with one message after any number of heartbeats. Starts to wait only once a slot is free. */
function streamOne(
  db: Database,
  context: Context<DoorVariables>,
  openStream: OpenStream,
  event: string,
  begin: () => Wait,
): Response {
  const close = openStream();
  const { next, leave } = begin();
  let over = false;
  return eventStream(
    context.req.raw.signal,
    async (signal) => {
      if (over) return null;
      const found = await next(limits.heartbeatMs, signal);
      if (found === null) return [];
      over = true;
      return [{ event, data: await viewQuestion(db, found) }];
    },
    () => {
      leave();
      close();
    },
  );
}

async function viewQuestion(db: Database, question: Question): Promise<QuestionView> {
  const named = async (id: string) => ({ id, alias: (await agentById(db, id))?.alias ?? 'unknown' });
  const answered = question.end === 'answered';
  return {
    conversationId: question.id,
    kind: question.kind,
    from: await named(question.fromId),
    to: await named(question.toId),
    question: question.question,
    taskId: question.taskId,
    phaseId: question.phase,
    askedAt: question.askedAt,
    deadlineAt: question.deadlineAt,
    endedAt: question.endedAt,
    end: question.end,
    answer: answered ? question.answer : null,
    reason: answered ? null : question.answer,
  };
}

function targetOf({ agent, task, phase }: AskBody): Target {
  if (agent !== undefined) return { agent };
  if (task !== undefined) return { task };
  return phase === undefined ? { person: true } : { phase };
}

function wantsStream(context: Context): boolean {
  return context.req.header('accept')?.includes('text/event-stream') ?? false;
}
