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

/** Questions between agents, and from agents to the person. */
export function createQuestions(platform: DefinitionPlatform, waits: QuestionWaits) {
  const { store } = platform;

  store.onCommit(({ events }) => {
    for (const { type, data } of events) if (type === 'question.ended') waits.wake(String(data['questionId']));
    // Synchronously, so before any other listener of this commit can hand it over again.
    if (events.some(({ type }) => type === 'mail.returned'))
      store
        .write(recordWithdrawals)
        .catch((error: unknown) => platform.log.error({ error: messageOf(error) }, 'failed to withdraw a question'));
  });

  /** Asks a question. It is durable before this returns. */
  async function ask(request: AskRequest): Promise<Question> {
    checkBody(request.text);
    const known = await questionOfRequest(store.db, request.key);
    if (known !== null) return known;
    const body = await storeBody(platform, request.text);
    let taken: Taken | null = null;
    const take = (agentId: string) => (taken = waits.take(agentId));
    const asking = await store
      .write((tx) => recordAsking(platform, tx, request, { body, take, end }))
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

  /** Ends a question without an answer; the asker learns of it by its waiting command or by mail, perhaps later. */
  async function end(
    tx: WriteTransaction,
    question: Question,
    given: { end: Exclude<QuestionEnd, 'answered'>; text: string },
  ): Promise<boolean> {
    if (!(await recordQuestionEnd(tx, question, given))) return false;
    if (!isExpected(question, tx.now)) await recordNoAnswer(tx, question, given.text);
    return true;
  }

  /** Answers a question once; the same answer again is not an error. */
  async function answer(question: Question, text: string): Promise<void> {
    const body = await storeBody(platform, text);
    await store.write(async (tx) => {
      if (await recordQuestionEnd(tx, question, { end: 'answered', text })) {
        const now = (await questionById(tx.db, question.id)) ?? question;
        if (!isExpected(now, tx.now)) await recordAnswerMail(tx, now, body, { shown: false });
        return;
      }
      const ended = await questionById(tx.db, question.id);
      if (ended?.end !== 'answered' || ended.answer !== text) throw alreadyEnded(ended ?? question);
    });
    crashPoint('question.after_answer');
  }

  /** Mails how a question has ended, unless a command of the asker has shown it. */
  async function tell(question: Question): Promise<void> {
    const body = question.end === 'answered' ? await storeBody(platform, question.answer ?? '') : null;
    await store.write(async (tx) => {
      if (body === null) await recordNoAnswer(tx, question, question.answer ?? '');
      else await recordAnswerMail(tx, question, body, { shown: false });
      // The asker is gone, unless it was told already.
      await noteTold(tx, question.id, null);
    });
  }

  /** Records that the waiting command has shown the end, which delivers the answer's mail. */
  async function shown(question: Question): Promise<void> {
    if (question.endedAt === null) return;
    const body = question.end === 'answered' ? await storeBody(platform, question.answer ?? '') : null;
    await store.write(async (tx) => {
      const mail = body === null ? null : await recordAnswerMail(tx, question, body, { shown: true });
      if (mail !== null || (await noteTold(tx, question.id, null))) return;
      const { answerMailId } = (await questionById(tx.db, question.id)) ?? question;
      const sent = answerMailId === null ? null : await mailById(tx.db, answerMailId);
      if (sent === null) return;
      await noteDelivered(tx, sent, 'pull');
      await noteRead(tx, sent);
    });
  }

  /** Waits for the end of a question. While the asker waits, the end is not mailed. */
  function follow(questionId: string, who: Awaiting): FollowedQuestion {
    const waiting = waits.await(questionId, who);
    return {
      leave: waiting.leave,
      async end(timeoutMs, signal) {
        const deadline = performance.now() + timeoutMs;
        for (;;) {
          const version = waiting.wakes.version();
          const question = await questionById(store.db, questionId);
          if (question === null || question.endedAt !== null) return question;
          const leftMs = deadline - performance.now();
          if (leftMs <= 0) return null;
          await waiting.wakes.wait(version, leftMs, signal);
        }
      },
    };
  }

  /** True while the asking command waits, or may be about to: it has just asked, or the daemon has just started. */
  function isExpected({ id, askedAt }: Question, now: number): boolean {
    return waits.isAwaited(id) || now < Math.max(askedAt, platform.startedAt) + limits.answerGraceMs;
  }

  /**
   * The next question for an agent; null if none arrives within `timeoutMs`. It is claimed for this listener for a
   * while, so two listeners get different ones.
   */
  async function listen(agentId: string, timeoutMs: number, signal: AbortSignal): Promise<Question | null> {
    // Transactions serialise the checks for questions and listeners, so none is missed.
    const heard = await store.write(async (tx) => {
      const question = await firstUnclaimed(tx.db, agentId, tx.now);
      if (question !== null && (await recordHeard(tx, question))) return question;
      return waits.listen(agentId);
    });
    return 'id' in heard ? heard : heard.question(timeoutMs, signal);
  }

  return { ask, answer, end, tell, shown, follow, listen, isExpected };
}

function alreadyEnded(question: Question): PawlError {
  const how = question.end === 'answered' ? 'has been answered already' : `has ended: ${question.answer ?? ''}`;
  return new PawlError('conflict', `The question ${question.id} ${how}.`, {
    hint: 'To add something, use pawl send.',
  });
}
