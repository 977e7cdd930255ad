import { messageOf } from '@pawl/schema/error';
import type { Event } from '@pawl/schema/event';
import { limits } from '@pawl/schema/limit';
import type { Question } from '@pawl/schema/mail';
import { mailsOfEndedQuestions, nextDue, untoldEnds } from '@pawl/store/mail/questions';
import type { Signals } from '../agents/signals.ts';
import type { DefinitionPlatform } from '../definitions/definition-platform.ts';
import { endedAgents } from '../platform/ended-agents.ts';
import { recordWithdrawals } from './question-record.ts';
import type { Questions } from './questions.ts';
import { settleAllQuestions, settleQuestionsOf } from './settle-question.ts';
import { settleWaitingRuns } from './unanswered.ts';

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
  const parts = { platform, questions };
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
  const floor = setInterval(lookAtAll, platform.timing.routeMs).unref();

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
        else for (const agentId of agents) await settleQuestionsOf(parts, agentId);
        await setTimer();
      } catch (error) {
        platform.log.error({ error: messageOf(error) }, 'questions could not be looked after; tried again later');
      }
    }
  }

  /** What becomes due at a time is looked at then, and not at the next look. */
  async function setTimer(): Promise<void> {
    const due = await nextTime(platform, seenUntil);
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (closed || due === Infinity) return;
    timer = setTimeout(lookAtAll, pauseBefore(due - platform.clock())).unref();
  }

  async function tick(now = platform.clock()): Promise<void> {
    await settleAllQuestions(parts, now);
    seenUntil = now;
    for (const question of await untoldEnds(store.db))
      if (isUnseen(questions, question, now)) await questions.tell(question);
    if ((await mailsOfEndedQuestions(store.db)).length > 0) await store.write(recordWithdrawals);
    await settleWaitingRuns(platform, signals, now);
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

/** When something about questions becomes due next; Infinity when nothing does. */
async function nextTime({ store, clock, startedAt }: DefinitionPlatform, seenUntil: number): Promise<number> {
  // The clock may have been set back since.
  const dues = [await nextDue(store.db, Math.min(seenUntil, clock()))];
  for (const { endedAt } of await untoldEnds(store.db))
    dues.push(Math.max(endedAt ?? 0, startedAt) + limits.answerGraceMs);
  return Math.min(...dues.map((at) => at ?? Infinity));
}

/** How long to wait for something that is due after so long. If it is due already, it could not be settled just now. */
function pauseBefore(leftMs: number): number {
  return leftMs <= 0 ? retryMs : Math.min(longestTimerMs, Math.max(shortestTimerMs, leftMs));
}

/** Whether no command has come to hear how a question ended. */
function isUnseen(questions: Questions, question: Question, now: number): boolean {
  return !questions.isExpected(question, now) && now >= (question.endedAt ?? 0) + limits.answerGraceMs;
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
      return endedAgents(event);
    case 'question.asked':
    case 'question.ended':
      return [];
    default:
      return null;
  }
}
