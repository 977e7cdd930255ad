import { limits } from '@pawl/schema/limit';
import { describe, expect, test } from 'vitest';
import type { EndedSession } from '../../src/sessions/completion.ts';
import { judgeSession } from '../../src/sessions/completion.ts';
import { asked, cleanEnd, done, gaveUp, okay, refused } from './ended-session.ts';

describe('transient errors, limits and accounts', () => {
  const overloaded = { result: { ok: false, text: 'overloaded', fault: 'transient' }, fault: 'transient' } as const;

  test.each([0, 1, 2])('a transient error is retried, the %d. time after twice the delay [W3-08]', (retries) => {
    expect(judgeSession({ ...cleanEnd, ...overloaded, retries })).toEqual({
      next: 'retry',
      delayMs: 1_000 * 2 ** retries,
      detail: 'overloaded',
    });
  });

  test('after three retries it fails [W3-08]', () => {
    const verdict = judgeSession({ ...cleanEnd, ...overloaded, retries: 3 });
    expect(verdict).toMatchObject({ outcome: 'failed', detail: 'overloaded (tried 4 times)' });
  });

  test('a crash is retried only if its last words match a transient error; silence always is [W3-08]', () => {
    expect(judgeSession({ ...cleanEnd, exitCode: 1 })).toMatchObject({ outcome: 'failed' });
    expect(judgeSession({ ...cleanEnd, exitCode: 1, fault: 'transient' })).toMatchObject({ next: 'retry' });
    expect(judgeSession({ ...cleanEnd, exitCode: 143, hung: true })).toMatchObject({ next: 'retry' });
    expect(judgeSession({ ...cleanEnd, exitCode: 143, hung: true, retries: 3 })).toMatchObject({ outcome: 'failed' });
  });

  test("an account's limit is not retried but asks for another account [S3-35, W3-08]", () => {
    const limited = { ...cleanEnd, limitUntil: 5_000, hasAccount: true };
    expect(judgeSession(limited)).toMatchObject({ next: 'change-account', cause: 'limit', until: 5_000 });
    expect(judgeSession({ ...limited, limitUntil: 0 })).toMatchObject({ next: 'change-account', until: null });
    expect(judgeSession({ ...limited, limitUntil: null, fault: 'limit' })).toMatchObject({ next: 'change-account' });
    expect(judgeSession({ ...limited, limitWaits: limits.limitWaits })).toMatchObject({ outcome: 'failed' });
  });

  test('a limit of the CLI’s own login is waited for if its end is known [5.2.11]', () => {
    expect(judgeSession({ ...cleanEnd, limitUntil: 5_000 })).toMatchObject({ next: 'wait', until: 5_000 });
    const unknown = judgeSession({ ...cleanEnd, fault: 'limit' });
    expect(unknown).toMatchObject({ outcome: 'failed', cause: { reason: 'limit' } });
  });

  test('a rejected login asks for another account, or fails without one [W3-08]', () => {
    const denied = { ...cleanEnd, result: { ok: false, text: '401', fault: 'auth' }, fault: 'auth' } as const;
    expect(judgeSession(denied)).toMatchObject({ next: 'retry' });
    const again = { ...denied, retries: 1 };
    expect(judgeSession({ ...again, hasAccount: true })).toMatchObject({ next: 'change-account', cause: 'auth' });
    expect(judgeSession(again)).toMatchObject({ outcome: 'failed', detail: '401' });
  });

  test('a stopped agent is not retried', () => {
    const stopped = { ...cleanEnd, ...overloaded, stopRequested: true };
    expect(judgeSession(stopped)).toMatchObject({ outcome: 'cancelled' });
  });
});

describe('uncommitted work', () => {
  const left = { ...cleanEnd, signal: done, uncommitted: 2 };

  test('a finished agent is asked to commit it [S3-66]', () => {
    expect(judgeSession(left)).toEqual({ next: 'ask-to-commit', detail: 'fixed it' });
  });

  test('once; then its first result counts [S3-68]', () => {
    const asked = { ...left, outcomeBefore: 'fixed it' };
    for (const end of [asked, { ...asked, signal: null }, { ...asked, signal: null, exitCode: 1 }]) {
      expect(judgeSession(end)).toMatchObject({ outcome: 'completed', detail: 'fixed it' });
    }
  });

  test('not if a person stopped it', () => {
    expect(judgeSession({ ...left, stopRequested: true })).toMatchObject({ outcome: 'completed' });
  });
});

describe('a turn that ends by the provider’s result, as in coordinate and converse [7.12]', () => {
  const turn = { ...cleanEnd, endsByResult: true };

  test('is over with the result, without a signal', () => {
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
  ])('that was exceeded outranks %s', (_name, ended) => {
    expect(judgeSession({ ...cleanEnd, ...ended, breach })).toMatchObject(over);
  });

  test('that was only reached, or is the project’s, keeps finished work and ends unfinished work', () => {
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

  test('does not hide a question, a reported error, or a stop', () => {
    const questions = [...asked.questions];
    expect(judgeSession({ ...cleanEnd, signal: { ...asked, questions }, breach })).toMatchObject({ questions });
    expect(judgeSession({ ...cleanEnd, signal: gaveUp, breach })).toMatchObject({ detail: 'no such file' });
    expect(judgeSession({ ...cleanEnd, stopRequested: true, breach })).toMatchObject({ outcome: 'cancelled' });
  });
});
