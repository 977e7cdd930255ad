import { checkBody } from '@pawl/core/mail/mail';
import { cycleError } from '@pawl/core/questions/question';
import { crashPoint } from '@pawl/schema/crash-point';
import { messageOf, PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import type { Question, QuestionEnd } from '@pawl/schema/mail';
import { mailById } from '@pawl/store/mail/mail';
import { firstUnclaimed, noteTold, questionById } from '@pawl/store/mail/questions';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import { storeBody } from '../mail/mail-body.ts';
import { noteDelivered, noteRead } from '../mail/receipts.ts';
import type { DefinitionPlatform } from '../definitions/definition-platform.ts';
import type { AskRequest } from './asking.ts';
import { questionOfRequest, recordAsking } from './asking.ts';
import {
  recordAnswerMail,
  recordHeard,
  recordNoAnswer,
  recordQuestionEnd,
  recordReminder,
  recordWithdrawals,
} from './question-record.ts';
import type { Awaiting, QuestionWaits, Taken } from './question-waits.ts';

export type Questions = ReturnType<typeof createQuestions>;

/** A command that waits for the end of a question. */
type FollowedQuestion = {
  /** The question once it has ended; null after `timeoutMs`. Rejects on abort. */
  end(timeoutMs: number, signal: AbortSignal): Promise<Question | null>;
  leave(): void;
};

type QuestionContext = { platform: DefinitionPlatform; waits: QuestionWaits };

/** The end of a question without an answer, and the reason for the asker. */
type Unanswered = { end: Exclude<QuestionEnd, 'answered'>; text: string };

/** Questions between agents, and from agents to the person. */
export function createQuestions(platform: DefinitionPlatform, waits: QuestionWaits) {
  const context: QuestionContext = { platform, waits };
  const { store } = platform;

  store.onCommit(({ events }) => {
    for (const { type, data } of events) if (type === 'question.ended') waits.wake(String(data['questionId']));
    // Synchronously, so before any other listener of this commit can hand it over again.
    if (events.some(({ type }) => type === 'mail.returned'))
      store
        .write(recordWithdrawals)
        .catch((error: unknown) => platform.log.error({ error: messageOf(error) }, 'failed to withdraw a question'));
  });

  return {
    /** Asks a question. It is durable before this returns. */
    ask: (request: AskRequest) => ask(context, request),

    /** Answers a question once; the same answer again is not an error. */
    answer: (question: Question, text: string) => answer(context, question, text),

    /** Ends a question without an answer; the asker learns of it by its waiting command or by mail, perhaps later. */
    end: (tx: WriteTransaction, question: Question, given: Unanswered) => end(context, tx, question, given),

    /** Mails how a question has ended, unless a command of the asker has shown it. */
    tell: (question: Question) => tell(platform, question),

    /** Records that the waiting command has shown the end, which delivers the answer's mail. */
    shown: (question: Question) => shown(platform, question),

    /** Waits for the end of a question. While the asker waits, the end is not mailed. */
    follow: (questionId: string, who: Awaiting) => follow(context, questionId, who),

    /**
     * The next question for an agent; null if none arrives within `timeoutMs`. It is claimed for this listener for a
     * while, so two listeners get different ones.
     */
    listen: (agentId: string, timeoutMs: number, signal: AbortSignal) => listen(context, agentId, timeoutMs, signal),

    /** True while the asking command waits, or may be about to: it has just asked, or the daemon has just started. */
    isExpected: (question: Question, now: number) => isExpected(context, question, now),
  };
}

async function ask(context: QuestionContext, request: AskRequest): Promise<Question> {
  const { platform, waits } = context;
  const { store } = platform;
  checkBody(request.text);
  const known = await questionOfRequest(store.db, request.key);
  if (known !== null) return known;
  const body = await storeBody(platform, request.text);
  let taken: Taken | null = null;
  const take = (agentId: string) => (taken = waits.take(agentId));
  const asking = await store
    .write((tx) => recordAsking(platform, tx, request, { body, take, end: (...given) => end(context, ...given) }))
    .catch((error: unknown) => {
      taken?.putBack();
      throw error;
    });
  if ('cycle' in asking) throw cycleError(asking.cycle);
  if (asking.known) return asking.question;
  crashPoint('question.after_ask');
  const { question } = asking;
  if (asking.taken !== null && !asking.taken.give(question)) await store.write((tx) => recordReminder(tx, question));
  return question;
}

async function end(
  context: QuestionContext,
  tx: WriteTransaction,
  question: Question,
  given: Unanswered,
): Promise<boolean> {
  if (!(await recordQuestionEnd(tx, question, given))) return false;
  if (!isExpected(context, question, tx.now)) await recordNoAnswer(tx, question, given.text);
  return true;
}

async function answer(context: QuestionContext, question: Question, text: string): Promise<void> {
  const body = await storeBody(context.platform, text);
  await context.platform.store.write(async (tx) => {
    if (await recordQuestionEnd(tx, question, { end: 'answered', text })) {
      const now = (await questionById(tx.db, question.id)) ?? question;
      if (!isExpected(context, now, tx.now)) await recordAnswerMail(tx, now, body, { shown: false });
      return;
    }
    const ended = await questionById(tx.db, question.id);
    if (ended?.end !== 'answered' || ended.answer !== text) throw alreadyEnded(ended ?? question);
  });
  crashPoint('question.after_answer');
}

async function tell(platform: DefinitionPlatform, question: Question): Promise<void> {
  const body = question.end === 'answered' ? await storeBody(platform, question.answer ?? '') : null;
  await platform.store.write(async (tx) => {
    if (body === null) await recordNoAnswer(tx, question, question.answer ?? '');
    else await recordAnswerMail(tx, question, body, { shown: false });
    // Without mail the asker is gone, or knows the end already.
    await noteTold(tx, question.id, null);
  });
}

async function shown(platform: DefinitionPlatform, question: Question): Promise<void> {
  if (question.endedAt === null) return;
  const body = question.end === 'answered' ? await storeBody(platform, question.answer ?? '') : null;
  await platform.store.write(async (tx) => {
    const mail = body === null ? null : await recordAnswerMail(tx, question, body, { shown: true });
    if (mail !== null || (await noteTold(tx, question.id, null))) return;
    const { answerMailId } = (await questionById(tx.db, question.id)) ?? question;
    const sent = answerMailId === null ? null : await mailById(tx.db, answerMailId);
    if (sent === null) return;
    await noteDelivered(tx, sent, 'pull');
    await noteRead(tx, sent);
  });
}

function follow({ platform, waits }: QuestionContext, questionId: string, who: Awaiting): FollowedQuestion {
  const waiting = waits.await(questionId, who);
  return {
    leave: waiting.leave,
    async end(timeoutMs, signal) {
      const deadline = performance.now() + timeoutMs;
      for (;;) {
        const version = waiting.wakes.version();
        const question = await questionById(platform.store.db, questionId);
        if (question === null || question.endedAt !== null) return question;
        const leftMs = deadline - performance.now();
        if (leftMs <= 0) return null;
        await waiting.wakes.wait(version, leftMs, signal);
      }
    },
  };
}

function isExpected({ platform, waits }: QuestionContext, { id, askedAt }: Question, now: number): boolean {
  return waits.isAwaited(id) || now < Math.max(askedAt, platform.startedAt) + limits.answerGraceMs;
}

async function listen(
  { platform, waits }: QuestionContext,
  agentId: string,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Question | null> {
  // Transactions serialise the checks for questions and listeners, so none is missed.
  const heard = await platform.store.write(async (tx) => {
    const question = await firstUnclaimed(tx.db, agentId, tx.now);
    if (question !== null && (await recordHeard(tx, question))) return question;
    return waits.listen(agentId);
  });
  return 'id' in heard ? heard : heard.question(timeoutMs, signal);
}

function alreadyEnded(question: Question): PawlError {
  const how = question.end === 'answered' ? 'has been answered already' : `has ended: ${question.answer ?? ''}`;
  return new PawlError('conflict', `The question ${question.id} ${how}.`, {
    hint: 'To add something, use pawl send.',
  });
}
