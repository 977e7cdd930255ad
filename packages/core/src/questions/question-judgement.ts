import { limits } from '@pawl/schema/limit';
import type { Mail, Question, QuestionEnd } from '@pawl/schema/mail';
import type { Agent, Run } from '@pawl/schema/record';
import type { Asked } from './question.ts';
import { isPerson } from '../mail/mail.ts';
import { whyNoAnswer } from './question.ts';

/** What decides what becomes of an open question. */
export type QuestionFacts = {
  question: Question;
  from: { agent: Agent; run: Run | null };
  to: Asked;
  /** Those by which it was put to its recipient, in their order. */
  mails: readonly Mail[];
};

/** What becomes of what nobody answers: after this long, which is never when it is null. */
export type QuestionPolicy = { deadlineMs: number | null; policy: 'park' | 'decide' };

export type Judgement =
  | { do: 'keep' }
  | { do: 'end'; end: QuestionEnd; text: string }
  /** Its recipient has seen it and gone on without an answer: it is put to it once more. */
  | { do: 'remind' }
  /** Nobody has answered in time: it stays, and whoever looks after the asker is told. */
  | { do: 'park' };

/** What an agent is told that asked the person, when nobody is there. */
export const decideYourself =
  'Nobody is there to answer now. Decide it yourself, and name in your result what you assumed';

/**
 * What becomes of an open question, read from facts alone; asked again whenever one of them may have changed, and now and then.
 *
 *   asked ──▶ answered | not-now           by the one who was asked
 *     │  ▲──▶ expired                      its deadline has passed
 *     │  │──▶ cancelled                    one of the two is dead, or the one who was asked cannot answer any more
 *     └──┘    (put once more, a bounded number of times, when its recipient rests without an answer)
 */
export function judgeQuestion(facts: QuestionFacts, policy: QuestionPolicy, now: number): Judgement {
  const { question, from, to } = facts;
  if (from.agent.endedAt !== null) return cancelled(`${from.agent.alias}, who asked, is dead`);
  if (to.agent.endedAt !== null) return cancelled(`${to.agent.alias} is dead`);
  if (question.deadlineAt !== null && question.deadlineAt <= now) return expired(question, to.agent);
  return isPerson(to.agent) ? judgeForPerson(facts, policy, now) : judgeForAgent(facts, now);
}

function judgeForPerson({ question, from }: QuestionFacts, policy: QuestionPolicy, now: number): Judgement {
  // The program that asked for a permission is gone with its session.
  if (question.kind === 'permission' && from.run?.outcome !== null) return cancelled('its session has ended');
  if (question.deadlineAt !== null || policy.deadlineMs === null) return { do: 'keep' };
  if (question.askedAt + policy.deadlineMs > now) return { do: 'keep' };
  return policy.policy === 'park' ? { do: 'park' } : { do: 'end', end: 'not-now', text: decideYourself };
}

function judgeForAgent({ question, to, mails }: QuestionFacts, now: number): Judgement {
  const last = mails.at(-1);
  if (last !== undefined && last.deadAt !== null) return cancelled(last.deadReason ?? 'it could not be delivered');
  const isAtWork = to.run !== null && to.run.outcome === null;
  if (isAtWork) {
    // Paused or about to be stopped, it may still go on; how its run ends decides.
    const lapsed = question.listenedUntil !== null && question.listenedUntil <= now;
    return lapsed && last?.channel === 'pull' && mails.length < limits.mailAttempts ? { do: 'remind' } : { do: 'keep' };
  }
  // It has seen the question, perhaps, and may answer when a person has answered it.
  if (to.run?.outcome === 'completed' && to.run.questions !== null) return { do: 'keep' };
  const why = whyNoAnswer(to);
  if (why !== null) return cancelled(`${to.agent.alias} cannot answer any more: ${why}`);
  if (last === undefined || last.deliveredAt === null) return { do: 'keep' };
  if (mails.length < limits.mailAttempts) return { do: 'remind' };
  return cancelled(`${to.agent.alias} was asked ${mails.length} times and rests without an answer`);
}

function cancelled(text: string): Judgement {
  return { do: 'end', end: 'cancelled', text };
}

function expired(question: Question, to: Agent): Judgement {
  const who = isPerson(to) ? 'Nobody' : to.alias;
  const seconds = Math.round(((question.deadlineAt ?? 0) - question.askedAt) / 1000);
  const what = isPerson(to) ? 'has answered' : 'has not answered';
  return { do: 'end', end: 'expired', text: `${who} ${what} within ${seconds} s` };
}
