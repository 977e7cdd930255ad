import type { Judgement } from '@pawl/core/questions/question-judgement';
import { judgeQuestion } from '@pawl/core/questions/question-judgement';
import { firstLine } from '@pawl/core/shorten';
import { messageOf } from '@pawl/schema/error';
import type { Event } from '@pawl/schema/event';
import { limits } from '@pawl/schema/limit';
import type { Question } from '@pawl/schema/mail';
import { agentView } from '@pawl/store/agents/agent-views';
import {
  mailsOfEndedQuestions,
  mailsOfQuestion,
  nextDue,
  openQuestions,
  openQuestionsFrom,
  openQuestionsTo,
  questionById,
  untoldEnds,
} from '@pawl/store/mail/questions';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import { diedOf } from '../platform/died-of.ts';
import type { DefinitionPlatform } from '../definitions/definition-platform.ts';
import { recordReminder, recordWithdrawals, tellSupervisor } from './question-record.ts';
import { askedFacts } from './question-target.ts';
import type { Questions } from './questions.ts';
import type { Signals } from '../agents/signals.ts';
import { isParked, park, settleWaitingRuns } from './unanswered.ts';

/** What looks after open questions, so that each one ends. */
export type QuestionWatch = {
  /** Looks at every open question and every waiting run, and does what has become due. */
  tick(now?: number): Promise<void>;
  close(): Promise<void>;
};

/** Times beyond this are looked at again before they come. */
const longestTimerMs = 60 * 60_000;
const shortestTimerMs = 20;
const retryMs = 1_000;

/** Begins to look after the questions of one daemon. */
export function watchQuestions(
  platform: DefinitionPlatform,
  questions: Questions,
  signals: Pick<Signals, 'reply'>,
): QuestionWatch {
  const { store } = platform;
  /** Whose questions are to be looked at next; everybody's when `all` is set. */
  const concerned = new Set<string>();
  let all = false;
  let asked = false;
  let running: Promise<void> | null = null;
  let closed = false;
  let timer: NodeJS.Timeout | null = null;
  /** What had become due by this time has been seen. */
  let seenUntil = 0;

  const unfollow = store.onCommit(({ events }) => {
    const agents = events.flatMap((event) => concernedBy(event) ?? []);
    for (const agentId of agents) concerned.add(agentId);
    if (events.some((event) => concernedBy(event) !== null)) look();
  });
  const floor = setInterval(lookAtAll, platform.timing.routeMs);
  floor.unref();

  function lookAtAll(): void {
    all = true;
    look();
  }

  function look(): void {
    if (closed) return;
    asked = true;
    running ??= lookUntilDone().finally(() => (running = null));
  }

  async function lookUntilDone(): Promise<void> {
    while (asked && !closed) {
      const [everybody, agents] = [all, [...concerned]];
      asked = all = false;
      concerned.clear();
      try {
        if (everybody) await tick();
        else for (const agentId of agents) await lookAfter(agentId, platform.clock());
        await setTimer();
      } catch (error) {
        platform.log.error({ error: messageOf(error) }, 'questions could not be looked after; tried again later');
      }
    }
  }

  async function lookAfter(agentId: string, now: number): Promise<void> {
    for (const question of await openQuestionsTo(store.db, agentId)) await settle(question, now);
    for (const question of await openQuestionsFrom(store.db, agentId)) await settle(question, now);
  }

  /** What becomes due at a time is looked at then, and not at the next look. */
  async function setTimer(): Promise<void> {
    // The clock may have been set back since.
    const dues = [await nextDue(store.db, Math.min(seenUntil, platform.clock()))];
    for (const { endedAt } of await untoldEnds(store.db))
      dues.push(Math.max(endedAt ?? 0, platform.startedAt) + limits.answerGraceMs);
    const due = Math.min(...dues.map((at) => at ?? Infinity));
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (closed || due === Infinity) return;
    const leftMs = due - platform.clock();
    // What is due and still there could not be settled just now, and is tried again in a while.
    const waitMs = leftMs <= 0 ? retryMs : Math.min(longestTimerMs, Math.max(shortestTimerMs, leftMs));
    timer = setTimeout(lookAtAll, waitMs);
    timer.unref();
  }

  async function tick(now = platform.clock()): Promise<void> {
    for (let page = await openQuestions(store.db); page.length > 0;) {
      for (const question of page) await settle(question, now);
      page = page.length < limits.pageRows ? [] : await openQuestions(store.db, page.at(-1) ?? null);
    }
    seenUntil = now;
    for (const question of await untoldEnds(store.db)) if (isDue(question, now)) await questions.tell(question);
    if ((await mailsOfEndedQuestions(store.db)).length > 0) await store.write(recordWithdrawals);
    await settleWaitingRuns(platform, signals, now);
  }

  /** Does what is due about one question. The facts are looked at first without a transaction: mostly nothing is. */
  async function settle(known: Question, now: number): Promise<void> {
    if ((await judged(store.db, known, now)).do === 'keep') return;
    await store.write(async (tx) => {
      const question = await questionById(tx.db, known.id);
      if (question === null || question.endedAt !== null) return;
      await apply(tx, question, await judged(tx.db, question, now));
    });
  }

  async function judged(db: WriteTransaction['db'], question: Question, now: number): Promise<Judgement> {
    const [from, to] = [await agentView(db, question.fromId), await agentView(db, question.toId)];
    if (from === null || to === null) return { do: 'keep' };
    const asked = await askedFacts(platform, db, to.agent);
    const mails = await mailsOfQuestion(db, question);
    const judgement = judgeQuestion({ question, from, to: asked, mails }, platform.choices.questions, now);
    return judgement.do === 'park' && (await isParked(db, question.id)) ? { do: 'keep' } : judgement;
  }

  async function apply(tx: WriteTransaction, question: Question, judgement: Judgement): Promise<void> {
    const asker = (await agentView(tx.db, question.fromId))?.agent;
    if (asker === undefined) return;
    const excerpt = firstLine(question.question, limits.labelCharacters);
    switch (judgement.do) {
      case 'keep':
        return;
      case 'remind':
        return recordReminder(tx, question);
      case 'park':
        await park(tx, question.id, asker, `it asked the person, and nobody has answered so far: ${excerpt}`);
        return;
      case 'end': {
        const { end, text } = judgement;
        if (end === 'answered') return;
        await questions.end(tx, question, { end, text });
        if (question.kind === 'permission' && end === 'expired')
          await tellSupervisor(
            tx,
            asker,
            `${asker.alias} was denied what it asked for, since nobody answered in time: ${excerpt}`,
          );
      }
    }
  }

  /** Whether no command has come to hear how a question ended. */
  function isDue(question: Question, now: number): boolean {
    return !questions.isExpected(question, now) && now >= (question.endedAt ?? 0) + limits.answerGraceMs;
  }

  lookAtAll();
  return {
    tick,
    async close() {
      closed = true;
      unfollow();
      clearInterval(floor);
      if (timer !== null) clearTimeout(timer);
      await running;
    },
  };
}

/** Whose questions an event may end, or none but the next time to look; null when it says nothing about questions. */
function concernedBy(event: Event): string[] | null {
  const { type, agentId } = event;
  switch (type) {
    case 'run.ended':
    case 'mail.dead_lettered':
      return agentId === null ? [] : [agentId];
    case 'agent.killed':
    case 'agent.ended':
      return diedOf(event);
    case 'question.asked':
    case 'question.ended':
      return [];
    default:
      return null;
  }
}
