import { limits } from '@pawl/schema/limit';
import type { Mail, Question, QuestionEnd } from '@pawl/schema/mail';
import type { Agent, Run } from '@pawl/schema/record';
import type { Asked } from './question.ts';
import { isPerson } from '../mail/mail.ts';
import { whyNoAnswer } from './question.ts';

/** The facts that decide an open question. */
export type QuestionFacts = {
  question: Question;
  from: { agent: Agent; run: Run | null };
  to: Asked;
  /** The mails that carried it to its recipient, in order. */
  mails: readonly Mail[];
};

/** How long a question waits for an answer, and what happens then; null waits for ever. */
export type QuestionPolicy = { deadlineMs: number | null; policy: 'park' | 'decide' };

export type Judgement =
  | { do: 'keep' }
  | { do: 'end'; end: QuestionEnd; text: string }
  /** The recipient saw it and went idle without answering: ask once more. */
  | { do: 'remind' }
  /** No answer in time: keep the question open, and notify the asker's supervisor. */
  | { do: 'park' };

/** The reply to an agent's question when no person is available. */
export const decideYourself =
  'No one is available to answer. Decide it yourself, and state your assumption in your result';

/**
 * Decides an open question from facts alone; evaluated whenever one may have changed, and periodically.
 *   asked ──▶ answered | not-now           by the recipient
 *     │  ▲──▶ expired                      its deadline has passed
 *     │  │──▶ cancelled                    one of the two is dead, or the recipient can no longer answer
 *     └──┘    (asked once more, up to a limit, when the recipient is idle without an answer)
 */
export function judgeQuestion(facts: QuestionFacts, policy: QuestionPolicy, now: number): Judgement {
  const { question, from, to } = facts;
  if (from.agent.endedAt !== null) return cancelled(`${from.agent.alias}, who asked, is dead`);
  if (to.agent.endedAt !== null) return cancelled(`${to.agent.alias} is dead`);
  if (question.deadlineAt !== null && question.deadlineAt <= now) return expired(question, to.agent);
  return isPerson(to.agent) ? judgeForPerson(facts, policy, now) : judgeForAgent(facts, now);
}

function judgeForPerson({ question }: QuestionFacts, policy: QuestionPolicy, now: number): Judgement {
  if (question.deadlineAt !== null || policy.deadlineMs === null) return { do: 'keep' };
  if (question.askedAt + policy.deadlineMs > now) return { do: 'keep' };
  return policy.policy === 'park' ? { do: 'park' } : { do: 'end', end: 'not-now', text: decideYourself };
}

function judgeForAgent({ question, to, mails }: QuestionFacts, now: number): Judgement {
  const last = mails.at(-1);
  if (last !== undefined && last.deadAt !== null) return cancelled(last.deadReason ?? 'it could not be delivered');
  const isAtWork = to.run !== null && to.run.outcome === null;
  if (isAtWork) {
    // A paused or stopping agent may still continue; the end of its run decides.
    const lapsed = question.listenedUntil !== null && question.listenedUntil <= now;
    return lapsed && last?.channel === 'pull' && mails.length < limits.mailAttempts ? { do: 'remind' } : { do: 'keep' };
  }
  // It may have seen the question, and can answer once a person has answered its own.
  if (to.run?.outcome === 'completed' && to.run.questions !== null) return { do: 'keep' };
  const why = whyNoAnswer(to);
  if (why !== null) return cancelled(`${to.agent.alias} can no longer answer: ${why}`);
  if (last === undefined || last.deliveredAt === null) return { do: 'keep' };
  if (mails.length < limits.mailAttempts) return { do: 'remind' };
  return cancelled(`${to.agent.alias} was asked ${mails.length} times and is idle without an answer`);
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
