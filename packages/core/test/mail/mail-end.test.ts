import { expect, test } from 'vitest';
import { mailAtEnd } from '../../src/mail/mail-end.ts';

const failed = { next: 'end', outcome: 'failed', detail: 'it exited with code 7', questions: null } as const;
const session = { result: null, limitUntil: null };
const crash = { exitCode: 7, failure: null, hung: false, fault: null, isWanted: true } as const;

test('a session that crashes by itself counts against its claimed mail', () => {
  expect(mailAtEnd(failed, session, crash)).toEqual({ well: false, blame: true, reason: 'it exited with code 7' });
  expect(mailAtEnd(failed, session, { ...crash, fault: 'other' }).blame).toBe(true);
  expect(mailAtEnd(failed, session, { ...crash, exitCode: null }).blame).toBe(true);
});

test.each([
  ['its run was cancelled', { ...crash, exitCode: 143, isWanted: false }],
  ['it was ended for its budget, or could not be started', { ...crash, failure: 'the budget is used up' }],
  ['it printed nothing', { ...crash, hung: true }],
  ['its login was rejected', { ...crash, fault: 'auth' as const }],
  ['an error passes', { ...crash, fault: 'transient' as const }],
  ['a limit holds', { ...crash, fault: 'limit' as const }],
])('it does not if %s', (_when, end) => {
  expect(mailAtEnd(failed, session, end).blame).toBe(false);
});

test('nor if it was stopped, continues, or reported a limit', () => {
  expect(mailAtEnd({ ...failed, outcome: 'cancelled' }, session, crash).blame).toBe(false);
  expect(mailAtEnd({ next: 'retry', delayMs: 1, detail: 'overloaded' }, session, crash).blame).toBe(false);
  expect(mailAtEnd(failed, { ...session, limitUntil: 5 }, crash).blame).toBe(false);
});

test('a good end is the provider’s result, or a clean exit without one', () => {
  const done = { next: 'end', outcome: 'completed', detail: 'done', questions: null } as const;
  expect(mailAtEnd(done, { ...session, result: { ok: true, text: '', fault: null } }, crash).well).toBe(true);
  expect(mailAtEnd(done, session, { ...crash, exitCode: 0 }).well).toBe(true);
  expect(
    mailAtEnd(failed, { ...session, result: { ok: false, text: '', fault: null } }, { ...crash, exitCode: 0 }).well,
  ).toBe(false);
});
