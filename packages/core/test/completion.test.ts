import { limits } from '@pawl/schema/limit';
import { describe, expect, test } from 'vitest';
import type { EndedSession, Verdict } from '../src/completion.ts';
import { describeExit, judgeSession } from '../src/completion.ts';

/** A clean end about which nothing else is known. */
const cleanEnd: EndedSession = {
  began: true,
  signal: null,
  result: null,
  exitCode: 0,
  limitUntil: null,
  stopRequested: false,
  interrupted: false,
  lost: false,
  paused: false,
  interruptions: 0,
  failure: null,
  worktreeMissing: false,
  resumable: true,
  endsByResult: false,
  signalRequests: 0,
  fault: null,
  retries: 0,
  limitWaits: 0,
  hung: false,
  hasAccount: false,
  uncommitted: 0,
  outcomeBefore: null,
  breach: null,
};
const done = { status: 'done', result: 'fixed it' } as const;
const gaveUp = { status: 'error', error: 'no such file' } as const;
const asked = { status: 'questions', questions: [{ id: 'db', question: 'Which database?' }] } as const;
const okay = { ok: true, text: 'All done.', fault: null };
const refused = { ok: false, text: 'API Error: 500', fault: null };

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
  ['no process began, whatever signal lies there', { began: false, signal: done }, 'failed', 'its process never began'],
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
    `it gave no signal, though it was asked ${limits.signalRetries} times`,
  ],
];

test('W1-15, S1-18: one that a person had paused does not go on by itself', () => {
  expect(judgeSession({ ...cleanEnd, exitCode: null, lost: true, paused: true })).toMatchObject({
    outcome: 'cancelled',
    detail: 'it was paused when it was lost with the machine',
  });
});

describe('S3-27, S3-49, 7.12: the end of a session means for its run', () => {
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
    'W1-18, S1-18: what was lost goes on, after %i times before, whatever its provider can do',
    (interruptions) => {
      expect(judgeSession({ ...cleanEnd, ...lost, interruptions })).toEqual({ next: 'go-on' });
      expect(judgeSession({ ...cleanEnd, ...lost, interruptions, resumable: false })).toEqual({ next: 'go-on' });
    },
  );

  test('W1-18: what ended its turn before it was lost is asked for its signal, and does not begin again', () => {
    expect(judgeSession({ ...cleanEnd, ...lost, result: okay })).toEqual({ next: 'ask-for-signal' });
  });

  test('W1-18: what left an exit code was not lost', () => {
    expect(judgeSession({ ...cleanEnd, lost: true, exitCode: 137 })).toMatchObject({ next: 'end', outcome: 'failed' });
  });

  test('7.3: whoever was interrupted and finished well, but gave no signal, is asked for it', () => {
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
  ])('each gets an id of its own: %s', (_name, given, expected) => {
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
])('exit code %i in words', (code, words) => {
  expect(describeExit(code)).toBe(words);
});

describe('errors that pass, limits and accounts', () => {
  const overloaded = { result: { ok: false, text: 'overloaded', fault: 'transient' }, fault: 'transient' } as const;

  test.each([0, 1, 2])('W3-08: an error that passes is tried again, the %d. time after twice as long', (retries) => {
    expect(judgeSession({ ...cleanEnd, ...overloaded, retries })).toEqual({
      next: 'retry',
      delayMs: 1_000 * 2 ** retries,
      detail: 'overloaded',
    });
  });

  test('W3-08: after three retries it has failed', () => {
    const verdict = judgeSession({ ...cleanEnd, ...overloaded, retries: 3 });
    expect(verdict).toMatchObject({ outcome: 'failed', detail: 'overloaded (tried 4 times)' });
  });

  test('W3-08: a crash is tried again only where its last words say that it passes; silence always is', () => {
    expect(judgeSession({ ...cleanEnd, exitCode: 1 })).toMatchObject({ outcome: 'failed' });
    expect(judgeSession({ ...cleanEnd, exitCode: 1, fault: 'transient' })).toMatchObject({ next: 'retry' });
    expect(judgeSession({ ...cleanEnd, exitCode: 143, hung: true })).toMatchObject({ next: 'retry' });
    expect(judgeSession({ ...cleanEnd, exitCode: 143, hung: true, retries: 3 })).toMatchObject({ outcome: 'failed' });
  });

  test('S3-35, W3-08: a limit of an account is not tried again but asks for another account', () => {
    const limited = { ...cleanEnd, limitUntil: 5_000, hasAccount: true };
    expect(judgeSession(limited)).toMatchObject({ next: 'change-account', cause: 'limit', until: 5_000 });
    expect(judgeSession({ ...limited, limitUntil: 0 })).toMatchObject({ next: 'change-account', until: null });
    expect(judgeSession({ ...limited, limitUntil: null, fault: 'limit' })).toMatchObject({ next: 'change-account' });
    expect(judgeSession({ ...limited, limitWaits: limits.limitWaits })).toMatchObject({ outcome: 'failed' });
  });

  test('5.2.11: a limit of the CLI’s own login is waited for when its end is known', () => {
    expect(judgeSession({ ...cleanEnd, limitUntil: 5_000 })).toMatchObject({ next: 'wait', until: 5_000 });
    const unknown = judgeSession({ ...cleanEnd, fault: 'limit' });
    expect(unknown).toMatchObject({ outcome: 'failed', cause: { reason: 'limit' } });
  });

  test('W3-08: a login that is not accepted asks for another account, or fails without one', () => {
    const denied = { ...cleanEnd, result: { ok: false, text: '401', fault: 'auth' }, fault: 'auth' } as const;
    expect(judgeSession(denied)).toMatchObject({ next: 'retry' });
    const again = { ...denied, retries: 1 };
    expect(judgeSession({ ...again, hasAccount: true })).toMatchObject({ next: 'change-account', cause: 'auth' });
    expect(judgeSession(again)).toMatchObject({ outcome: 'failed', detail: '401' });
  });

  test('whoever was told to stop is not tried again', () => {
    const stopped = { ...cleanEnd, ...overloaded, stopRequested: true };
    expect(judgeSession(stopped)).toMatchObject({ outcome: 'cancelled' });
  });
});

describe('work that was left uncommitted', () => {
  const left = { ...cleanEnd, signal: done, uncommitted: 2 };

  test('S3-66: an agent that is done is asked to commit what it left', () => {
    expect(judgeSession(left)).toEqual({ next: 'ask-to-commit', detail: 'fixed it' });
  });

  test('S3-68: once; then its first word counts, whatever came of it', () => {
    const asked = { ...left, outcomeBefore: 'fixed it' };
    for (const end of [asked, { ...asked, signal: null }, { ...asked, signal: null, exitCode: 1 }]) {
      expect(judgeSession(end)).toMatchObject({ outcome: 'completed', detail: 'fixed it' });
    }
  });

  test('not when a person stopped it', () => {
    expect(judgeSession({ ...left, stopRequested: true })).toMatchObject({ outcome: 'completed' });
  });
});

describe('a turn that the provider’s result ends, as in coordinate and converse [7.12]', () => {
  const turn = { ...cleanEnd, endsByResult: true };

  test('is over with the result, and no signal is asked for', () => {
    expect(judgeSession({ ...turn, result: okay })).toMatchObject({ outcome: 'completed', detail: 'All done.' });
    expect(judgeSession({ ...turn, result: null })).toMatchObject({ outcome: 'completed', detail: '' });
    expect(judgeSession({ ...cleanEnd, result: okay })).toEqual({ next: 'ask-for-signal' });
  });

  test('fails, stops and asks like any other', () => {
    expect(judgeSession({ ...turn, result: refused })).toMatchObject({ outcome: 'failed' });
    expect(judgeSession({ ...turn, exitCode: 3 })).toMatchObject({ outcome: 'failed' });
    expect(judgeSession({ ...turn, stopRequested: true, result: okay })).toMatchObject({ outcome: 'cancelled' });
    expect(judgeSession({ ...turn, signal: gaveUp })).toMatchObject({ outcome: 'failed', detail: 'no such file' });
  });
});

describe('a budget', () => {
  const breach = { of: 'agent', detail: '1100 of 1000 tokens', passed: true } as const;
  const over = {
    outcome: 'failed',
    detail: 'the budget of the agent is used up: 1100 of 1000 tokens',
    cause: { reason: 'budget', of: 'agent', detail: '1100 of 1000 tokens' },
  };
  const reached = { ...breach, detail: '1000 of 1000 tokens', passed: false };

  test.each<[string, Partial<EndedSession>]>([
    ['a signal that the work is done', { signal: done }],
    ['a request to commit what was left', { outcomeBefore: 'fixed it' }],
    ['a good result', { result: okay, resumable: false }],
    ['a missing signal, which is not asked for', {}],
    ['an error that would be tried again', { exitCode: 1, fault: 'transient' }],
    ['a usage limit', { limitUntil: 5_000 }],
  ])('that was passed outranks %s', (_name, ended) => {
    expect(judgeSession({ ...cleanEnd, ...ended, breach })).toMatchObject(over);
  });

  test('that was reached, or is the project’s, leaves finished work finished, and ends unfinished work', () => {
    const ofProject = { ...breach, of: 'project' } as const;
    for (const spent of [reached, ofProject]) {
      expect(judgeSession({ ...cleanEnd, signal: done, breach: spent })).toMatchObject({ outcome: 'completed' });
      expect(judgeSession({ ...cleanEnd, outcomeBefore: 'x', breach: spent })).toMatchObject({ outcome: 'completed' });
      const byResult = { ...cleanEnd, result: okay, endsByResult: true, breach: spent };
      expect(judgeSession(byResult)).toMatchObject({ outcome: 'completed' });
      expect(judgeSession({ ...cleanEnd, breach: spent })).toMatchObject({
        outcome: 'failed',
        cause: { reason: 'budget', of: spent.of },
      });
    }
  });

  test('does not hide a question, an error that the agent reports, or a stop', () => {
    const questions = [...asked.questions];
    expect(judgeSession({ ...cleanEnd, signal: { ...asked, questions }, breach })).toMatchObject({ questions });
    expect(judgeSession({ ...cleanEnd, signal: gaveUp, breach })).toMatchObject({ detail: 'no such file' });
    expect(judgeSession({ ...cleanEnd, stopRequested: true, breach })).toMatchObject({ outcome: 'cancelled' });
  });
});
