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

/** Settles open questions, so that each one ends. */
export type QuestionWatch = {
  /** Checks every open question and waiting run, and settles what is due. */
  tick(now?: number): Promise<void>;
  close(): Promise<void>;
};

/** Later times are checked again before they come. */
const longestTimerMs = 60 * 60_000;
const shortestTimerMs = 20;
const retryMs = 1_000;

/** Starts watching the questions of one daemon. */
export function watchQuestions(
  platform: DefinitionPlatform,
  questions: Questions,
  signals: Pick<Signals, 'reply'>,
): QuestionWatch {
  const { store } = platform;
  const parts = { platform, questions };
  /** Agents whose questions to check next; all if `all` is set. */
  const concerned = new Set<string>();
  let all = false;
  let asked = false;
  let running: Promise<void> | null = null;
  let closed = false;
  let timer: NodeJS.Timeout | null = null;
  /** Everything due up to this time has been handled. */
  let seenUntil = 0;

  const unfollow = store.onCommit(({ events }) => {
    const agents = events.flatMap((event) => concernedBy(event) ?? []);
    for (const agentId of agents) concerned.add(agentId);
    if (events.some((event) => concernedBy(event) !== null)) check();
  });
  const floor = setInterval(checkAll, platform.timing.routeMs).unref();

  function checkAll(): void {
    all = true;
    check();
  }

  function check(): void {
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
        platform.log.error({ error: messageOf(error) }, 'failed to settle questions; will retry');
      }
    }
  }

  /** Sets a timer for the next due time, so that it need not wait for the next tick. */
  async function setTimer(): Promise<void> {
    const due = await nextTime(platform, seenUntil);
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (closed || due === Infinity) return;
    timer = setTimeout(checkAll, pauseBefore(due - platform.clock())).unref();
  }

  async function tick(now = platform.clock()): Promise<void> {
    await settleAllQuestions(parts, now);
    seenUntil = now;
    for (const question of await untoldEnds(store.db))
      if (isUnseen(questions, question, now)) await questions.tell(question);
    if ((await mailsOfEndedQuestions(store.db)).length > 0) await store.write(recordWithdrawals);
    await settleWaitingRuns(platform, signals, now);
  }

  checkAll();
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

/** The next due time of a question; Infinity if there is none. */
async function nextTime({ store, clock, startedAt }: DefinitionPlatform, seenUntil: number): Promise<number> {
  // The clock may have been set back since.
  const dues = [await nextDue(store.db, Math.min(seenUntil, clock()))];
  for (const { endedAt } of await untoldEnds(store.db))
    dues.push(Math.max(endedAt ?? 0, startedAt) + limits.answerGraceMs);
  return Math.min(...dues.map((at) => at ?? Infinity));
}

/** How long to wait for something due after `leftMs`. If it is due already, settling it has just failed. */
function pauseBefore(leftMs: number): number {
  return leftMs <= 0 ? retryMs : Math.min(longestTimerMs, Math.max(shortestTimerMs, leftMs));
}

/** True if no command has fetched the end of a question. */
function isUnseen(questions: Questions, question: Question, now: number): boolean {
  return !questions.isExpected(question, now) && now >= (question.endedAt ?? 0) + limits.answerGraceMs;
}

/** The agents whose questions an event may end, empty if it only changes the next due time; null if it is unrelated. */
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
