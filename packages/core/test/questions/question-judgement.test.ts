import { limits } from '@pawl/schema/limit';
import type { Mail, Question } from '@pawl/schema/mail';
import { describe, expect, test } from 'vitest';
import { aRun, aSession, anAgent, idOf } from '../fixture.ts';
import type { QuestionFacts, QuestionPolicy } from '../../src/questions/question-judgement.ts';
import { judgeQuestion } from '../../src/questions/question-judgement.ts';

const [askerId, askedId] = [idOf('asker'), idOf('asked')];
const never: QuestionPolicy = { deadlineMs: null, policy: 'park' };

function aQuestion(given: Partial<Question> = {}): Question {
  return {
    id: idOf('question'),
    projectId: idOf('project'),
    fromId: askerId,
    toId: askedId,
    kind: 'question',
    question: 'which port?',
    mailId: idOf('mail'),
    taskId: null,
    phase: null,
    askedAt: 1_000,
    deadlineAt: 61_000,
    listenedUntil: null,
    endedAt: null,
    end: null,
    answer: null,
    toldAt: null,
    answerMailId: null,
    ...given,
  };
}

const pending = { deliveredAt: null, deadAt: null, channel: null } as Mail;
const delivered = { ...pending, deliveredAt: 2_000, channel: 'turn' } as Mail;
const pulled = { ...delivered, channel: 'pull' } as Mail;

/** A question that has arrived at a working agent, with overrides. */
function facts(given: Partial<QuestionFacts> = {}): QuestionFacts {
  return {
    question: aQuestion(),
    from: { agent: anAgent({ id: askerId, alias: 'asker' }), run: aRun() },
    to: { agent: anAgent({ id: askedId, alias: 'asked' }), run: aRun(), session: aSession(), resumable: true },
    mails: [delivered],
    ...given,
  };
}

const judge = (given: Partial<QuestionFacts>, now = 2_000, policy = never) => judgeQuestion(facts(given), policy, now);
const asked = facts().to;
const idle = { ...asked, run: aRun({ outcome: 'completed', endedAt: 3 }) };
const person = { agent: anAgent({ id: askedId, parentId: null }), run: null, session: null, resumable: false };

describe('a question to an agent', () => {
  test('is kept while the agent works, or the mail is on its way', () => {
    expect(judge({})).toEqual({ do: 'keep' });
    expect(judge({ to: idle, mails: [pending] })).toEqual({ do: 'keep' });
    expect(judge({ to: { ...asked, session: aSession({ pausedAt: 1 }) } })).toEqual({ do: 'keep' });
  });

  test('expires at its deadline, not before', () => {
    expect(judge({}, 60_999)).toEqual({ do: 'keep' });
    expect(judge({}, 61_000)).toEqual({ do: 'end', end: 'expired', text: 'asked has not answered within 60 s' });
  });

  test('ends with either of the two', () => {
    const dead = { agent: anAgent({ alias: 'gone', endedAt: 1 }), run: null };
    expect(judge({ from: dead })).toMatchObject({ do: 'end', end: 'cancelled' });
    expect(judge({ to: { ...asked, ...dead } })).toMatchObject({ do: 'end', end: 'cancelled', text: 'gone is dead' });
  });

  test.each([
    ['failed', aRun({ outcome: 'failed' }), {}],
    ['stopped', aRun({ outcome: 'cancelled' }), { stopRequestedAt: 1 }],
    ['done for good', aRun({ outcome: 'completed' }), { completion: { at: 1, summary: null, failure: null } }],
  ])('ends when the recipient has %s, delivered or not', (_, run, more) => {
    const to = { ...asked, run, agent: anAgent({ alias: 'asked', ...more }) };
    for (const mails of [[delivered], [pending]])
      expect(judge({ to, mails })).toMatchObject({
        do: 'end',
        end: 'cancelled',
        text: expect.stringMatching(/^asked can no longer answer: /) as string,
      });
  });

  test('ends when the recipient is idle and cannot be resumed', () => {
    expect(judge({ to: { ...idle, resumable: false } })).toMatchObject({ do: 'end', end: 'cancelled' });
  });

  test('waits while the recipient waits for a person', () => {
    const run = aRun({ outcome: 'completed', questions: [{ id: 'a', question: 'which?' }] });
    expect(judge({ to: { ...asked, run } })).toEqual({ do: 'keep' });
  });

  test('is asked again, up to a limit, when the recipient is idle without an answer', () => {
    for (let times = 1; times < limits.mailAttempts; times++)
      expect(judge({ to: idle, mails: Array.from({ length: times }, () => delivered) })).toEqual({ do: 'remind' });
    const all = Array.from({ length: limits.mailAttempts }, () => delivered);
    expect(judge({ to: idle, mails: all })).toMatchObject({ do: 'end', end: 'cancelled' });
  });

  test('ends when it could not be delivered', () => {
    const dead = { ...pending, deadAt: 3, deadReason: 'it broke three sessions' };
    expect(judge({ mails: [dead] })).toEqual({ do: 'end', end: 'cancelled', text: 'it broke three sessions' });
  });

  test('is asked again when a listener took it without an answer', () => {
    const question = aQuestion({ listenedUntil: 3_000 });
    expect(judge({ question, mails: [pulled] }, 2_999)).toEqual({ do: 'keep' });
    expect(judge({ question, mails: [pulled] }, 3_000)).toEqual({ do: 'remind' });
    expect(judge({ question, mails: [pulled, pending] }, 3_000)).toEqual({ do: 'keep' });
    expect(judge({ question, mails: [pulled, pulled, pulled] }, 3_000)).toEqual({ do: 'keep' });
  });
});

describe('a question to the person', () => {
  const toPerson = { to: person, mails: [pending], question: aQuestion({ deadlineAt: null }) };

  test('waits forever without a deadline, and expires at a given one', () => {
    expect(judge(toPerson, Number.MAX_SAFE_INTEGER)).toEqual({ do: 'keep' });
    const named = { ...toPerson, question: aQuestion() };
    expect(judge(named, 61_000, { deadlineMs: 5, policy: 'park' })).toMatchObject({ end: 'expired' });
  });

  test.each([
    ['park', { do: 'park' }],
    ['decide', { do: 'end', end: 'not-now' }],
  ] as const)('%s: applies when the policy’s time is over', (policy, expected) => {
    expect(judge(toPerson, 5_999, { deadlineMs: 5_000, policy })).toEqual({ do: 'keep' });
    expect(judge(toPerson, 6_000, { deadlineMs: 5_000, policy })).toMatchObject(expected);
  });
});
