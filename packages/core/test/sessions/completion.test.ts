import { limits } from '@pawl/schema/limit';
import { describe, expect, test } from 'vitest';
import type { EndedSession, Verdict } from '../../src/sessions/completion.ts';
import { describeExit, exitCodeOfTurn, judgeSession } from '../../src/sessions/completion.ts';
import { asked, cleanEnd, done, gaveUp, okay, refused } from './ended-session.ts';

type Row = [name: string, ended: Partial<EndedSession>, outcome: string, detail: string];

const ends: Row[] = [
  ['why it could not go on', { failure: 'no worktree', exitCode: null }, 'failed', 'no worktree'],
  ['a signal, though it could not go on', { failure: 'no worktree', signal: done }, 'completed', 'fixed it'],
  [
    'a stop, though it could not go on',
    { failure: 'no worktree', stopRequested: true },
    'cancelled',
    'stopped on request',
  ],
  [
    'no process began, whatever signal lies there',
    { began: false, signal: done },
    'failed',
    'its process never started',
  ],
  ['why no process began', { began: false, signal: done, failure: 'no worktree' }, 'failed', 'no worktree'],
  ['a stop before the process began', { began: false, stopRequested: true }, 'cancelled', 'stopped on request'],
  [
    'a commit request that never began, after the run was done',
    { began: false, outcomeBefore: 'fixed it', failure: 'no worktree' },
    'completed',
    'fixed it',
  ],
  ['the signal says done', { signal: done }, 'completed', 'fixed it'],
  ['the signal says done and no more', { signal: { status: 'done' } }, 'completed', ''],
  ['the signal says error', { signal: gaveUp }, 'failed', 'no such file'],
  ['the signal says error and no more', { signal: { status: 'error' } }, 'failed', 'the agent reported an error'],
  ['done outranks a stop', { signal: done, stopRequested: true }, 'completed', 'fixed it'],
  ['a stop outranks an error', { signal: gaveUp, stopRequested: true }, 'cancelled', 'stopped on request'],
  [
    'a stop outranks questions',
    { signal: { ...asked, questions: [...asked.questions] }, stopRequested: true },
    'cancelled',
    'stopped on request',
  ],
  ['a stop outranks a limit', { stopRequested: true, limitUntil: 5 }, 'cancelled', 'stopped on request'],
  ['a stop outranks the exit code', { stopRequested: true, exitCode: 143 }, 'cancelled', 'stopped on request'],
  ['a stop outranks a vanished process', { stopRequested: true, exitCode: null }, 'cancelled', 'stopped on request'],
  ['done outranks a limit', { signal: done, limitUntil: 5, result: refused, exitCode: 1 }, 'completed', 'fixed it'],
  ['done outranks the exit code', { signal: done, exitCode: 137 }, 'completed', 'fixed it'],
  ['done outranks a vanished process', { signal: done, exitCode: null }, 'completed', 'fixed it'],
  ['an error signal outranks a good result', { signal: gaveUp, result: okay }, 'failed', 'no such file'],
  [
    'a limit outranks the worktree',
    { limitUntil: 0, worktreeMissing: true },
    'failed',
    'the provider reported a usage limit',
  ],
  [
    'a limit without an end',
    { limitUntil: 0, result: refused, exitCode: 1 },
    'failed',
    'the provider reported a usage limit: API Error: 500',
  ],
  [
    'the worktree outranks the result',
    { worktreeMissing: true, result: refused },
    'failed',
    'the worktree was deleted while the agent ran',
  ],
  ['a bad result outranks the exit code', { result: refused, exitCode: 1 }, 'failed', 'API Error: 500'],
  ['a bad result outranks a clean exit', { result: refused }, 'failed', 'API Error: 500'],
  [
    'a bad result without words',
    { result: { ok: false, text: '', fault: null } },
    'failed',
    'the provider reported an error',
  ],
  ['the process vanished', { exitCode: null }, 'failed', 'the process vanished without an exit code'],
  [
    'the process vanished after a bad result',
    { exitCode: null, result: refused, lost: true },
    'failed',
    'API Error: 500',
  ],
  [
    'the process vanished after a good result, and cannot be asked',
    { exitCode: null, result: okay, resumable: false },
    'completed',
    'All done.',
  ],
  ['it exited with a code', { exitCode: 3, result: okay }, 'failed', 'it exited with code 3'],
  ['a signal ended it', { exitCode: 137 }, 'failed', 'it was ended by signal 9'],
  ['5.2.16: not resumable, with a result', { resumable: false, result: okay }, 'completed', 'All done.'],
  ['not resumable, without one', { resumable: false }, 'failed', 'it ended without a signal or a result'],
  [
    'asked for the last time',
    { signalRequests: limits.signalRetries, result: okay },
    'failed',
    `it gave no signal, although it was asked ${limits.signalRetries} times`,
  ],
];

test('a session that a person had paused is not resumed [W1-15, S1-18]', () => {
  expect(judgeSession({ ...cleanEnd, exitCode: null, lost: true, paused: true })).toMatchObject({
    outcome: 'cancelled',
    detail: 'it was paused when it was lost with the machine',
  });
});

describe('judging the end of a session [S3-27, S3-49, 7.12]', () => {
  test.each(ends)('%s', (_name, ended, outcome, detail) => {
    expect(judgeSession({ ...cleanEnd, ...ended })).toMatchObject({ next: 'end', outcome, detail, questions: null });
  });

  test.each(Array.from({ length: limits.signalRetries }, (_, requests) => requests))(
    'a missing signal is asked for again after %i requests',
    (signalRequests) => {
      expect(judgeSession({ ...cleanEnd, signalRequests, result: okay })).toEqual({ next: 'ask-for-signal' });
    },
  );
});

const lost = { lost: true, exitCode: null } as const;

const lostOrInterrupted: Row[] = [
  ['W1-18: done outranks a loss', { ...lost, signal: done }, 'completed', 'fixed it'],
  ['W1-18: an error outranks a loss', { ...lost, signal: gaveUp }, 'failed', 'no such file'],
  ['W1-18: a stop outranks a loss', { ...lost, stopRequested: true }, 'cancelled', 'stopped on request'],
  ['W1-18: a limit outranks a loss', { ...lost, limitUntil: 0 }, 'failed', 'the provider reported a usage limit'],
  [
    'W1-18: what was lost without its worktree does not go on',
    { ...lost, worktreeMissing: true },
    'failed',
    'the worktree was deleted while the agent ran',
  ],
  [
    'W1-18: lost once more than it may be',
    { ...lost, interruptions: limits.interruptions },
    'failed',
    `it was lost with the machine ${limits.interruptions + 1} times`,
  ],
  [
    'W1-18: lost where it cannot be resumed, once too often',
    { ...lost, resumable: false, interruptions: limits.interruptions },
    'failed',
    `it was lost with the machine ${limits.interruptions + 1} times`,
  ],
  ['7.3: interrupted on request', { interrupted: true, exitCode: 130 }, 'cancelled', 'interrupted on request'],
  [
    '7.3: interrupted on request, and the provider calls it an error',
    { interrupted: true, result: refused },
    'cancelled',
    'interrupted on request',
  ],
  [
    '7.3: interrupted on request, and left with a code after a good result',
    { interrupted: true, exitCode: 130, result: okay },
    'cancelled',
    'interrupted on request',
  ],
  ['7.3: interrupted on request without a result', { interrupted: true }, 'cancelled', 'interrupted on request'],
  ['7.3: interrupted, and vanished', { interrupted: true, exitCode: null }, 'cancelled', 'interrupted on request'],
  [
    '7.3: interrupted, then lost: it does not go on',
    { ...lost, interrupted: true },
    'cancelled',
    'interrupted on request',
  ],
  [
    '7.3: interrupted, but finished well',
    { interrupted: true, result: okay, resumable: false },
    'completed',
    'All done.',
  ],
  [
    '7.3: interrupted, but said that it is done',
    { interrupted: true, exitCode: 130, signal: done },
    'completed',
    'fixed it',
  ],
  [
    '7.3: a stop outranks an interruption',
    { interrupted: true, exitCode: 130, stopRequested: true },
    'cancelled',
    'stopped on request',
  ],
];

describe('a session that was lost with the machine, or interrupted by a person', () => {
  test.each(lostOrInterrupted)('%s', (_name, ended, outcome, detail) => {
    expect(judgeSession({ ...cleanEnd, ...ended })).toMatchObject({ next: 'end', outcome, detail, questions: null });
  });

  test.each(Array.from({ length: limits.interruptions }, (_, interruptions) => interruptions))(
    'a lost session is resumed, after %i times before, whatever its provider supports [W1-18, S1-18]',
    (interruptions) => {
      expect(judgeSession({ ...cleanEnd, ...lost, interruptions })).toEqual({ next: 'go-on' });
      expect(judgeSession({ ...cleanEnd, ...lost, interruptions, resumable: false })).toEqual({ next: 'go-on' });
    },
  );

  test('one that ended its turn before it was lost is asked for its signal, and does not restart [W1-18]', () => {
    expect(judgeSession({ ...cleanEnd, ...lost, result: okay })).toEqual({ next: 'ask-for-signal' });
  });

  test('one with an exit code was not lost [W1-18]', () => {
    expect(judgeSession({ ...cleanEnd, lost: true, exitCode: 137 })).toMatchObject({ next: 'end', outcome: 'failed' });
  });

  test('an interrupted session that finished well without a signal is asked for it [7.3]', () => {
    expect(judgeSession({ ...cleanEnd, interrupted: true, result: okay })).toEqual({ next: 'ask-for-signal' });
  });
});

describe('questions', () => {
  const idsOf = (...ids: string[]) => {
    const questions = ids.map((id, index) => ({ id, question: `question ${index}` }));
    const verdict = judgeSession({ ...cleanEnd, signal: { status: 'questions', questions } });
    return (verdict as Extract<Verdict, { next: 'end' }>).questions;
  };

  test('they complete the run and keep their ids and order', () => {
    const signal = { ...asked, questions: [...asked.questions] };
    const questions = [{ id: 'db', question: 'Which database?' }];
    const expected = { next: 'end', outcome: 'completed', detail: 'questions', questions };
    expect(judgeSession({ ...cleanEnd, signal, exitCode: 1, limitUntil: 5 })).toEqual(expected);
  });

  test.each([
    ['no ids', ['', ''], ['q1', 'q2']],
    ['a number that is taken by a later one', ['', 'q1'], ['q2', 'q1']],
    ['a number that is taken by an earlier one', ['q2', ''], ['q2', 'q3']],
    ['the same id twice', ['a', 'a', 'a'], ['a', 'q2', 'q3']],
    ['the same number twice', ['q1', 'q1', ''], ['q1', 'q2', 'q3']],
  ])('each gets a unique id: %s', (_name, given, expected) => {
    const questions = idsOf(...given);
    expect(questions?.map(({ id }) => id)).toEqual(expected);
    expect(questions?.map(({ question }) => question)).toEqual(given.map((_id, index) => `question ${index}`));
  });
});

test.each([
  [0, 'it exited with code 0'],
  [1, 'it exited with code 1'],
  [128, 'it exited with code 128'],
  [129, 'it was ended by signal 1'],
  [143, 'it was ended by signal 15'],
  [192, 'it was ended by signal 64'],
  [193, 'it exited with code 193'],
  [255, 'it exited with code 255'],
])('describes exit code %i', (code, words) => {
  expect(describeExit(code)).toBe(words);
});

test.each([
  ['ended after its turn had ended well', { exitCode: 137, result: okay, interrupted: false }, 0],
  ['ended after its turn had failed', { exitCode: 143, result: refused, interrupted: false }, 143],
  ['ended in its turn', { exitCode: 137, result: null, interrupted: false }, 137],
  ['interrupted by a person', { exitCode: 130, result: okay, interrupted: true }, 130],
  ['that exited by itself with an error', { exitCode: 1, result: okay, interrupted: false }, 1],
  ['that vanished', { exitCode: null, result: okay, interrupted: false }, null],
])('the exit code that counts for a process %s [W3-09]', (_name, facts, code) => {
  expect(exitCodeOfTurn(facts)).toBe(code);
});
