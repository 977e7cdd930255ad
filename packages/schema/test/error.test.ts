import { expect, test } from 'vitest';
import type { ErrorCode } from '../src/error.ts';
import { errorCodes, hasErrno, messageOf, PawlError } from '../src/error.ts';

test.each(Object.entries(errorCodes))(
  '%s has an HTTP status of a failure and an exit code of its own family',
  (code, { http, exit }) => {
    expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
    expect(http).toBeGreaterThanOrEqual(400);
    expect(http).toBeLessThan(600);
    expect(exit).toBeGreaterThanOrEqual(1);
    expect(exit).toBeLessThanOrEqual(9);
    // A person's mistake is never reported as the daemon's, and vice versa.
    if (exit === 2) expect(http).toBeLessThan(500);
    if (exit === 1) expect(http).toBeGreaterThanOrEqual(500);
  },
);

test.each<[ErrorCode, number]>([
  ['usage', 2],
  ['agent_not_found', 3],
  ['ambiguous', 4],
  ['timeout', 5],
  ['budget', 6],
  ['needs_input', 7],
  ['forbidden', 8],
  ['daemon_unreachable', 9],
  ['internal', 1],
])('%s exits with the documented %i', (code, exit) => {
  expect(errorCodes[code].exit).toBe(exit);
});

test('an error carries its code, hint, details and cause', () => {
  const cause = new Error('disk');
  const error = new PawlError('store_failed', 'It was not written.', {
    hint: 'Free some space.',
    details: { a: 1 },
    cause,
  });
  expect(error).toBeInstanceOf(Error);
  expect(error).toMatchObject({ name: 'PawlError', code: 'store_failed', hint: 'Free some space.', details: { a: 1 } });
  expect(error.cause).toBe(cause);
});

test('without options there is no hint, no cause, and empty details', () => {
  const error = new PawlError('internal', 'x');
  expect(error.hint).toBeUndefined();
  expect(error.details).toEqual({});
  expect('cause' in error).toBe(false);
});

test.each<[unknown, string]>([
  [new Error('x'), 'x'],
  ['text', 'text'],
  [undefined, 'undefined'],
  [null, 'null'],
])('the message of %s', (thrown, message) => {
  expect(messageOf(thrown)).toBe(message);
});

test('a system error is reported by its code', () => {
  const missing = Object.assign(new Error('x'), { code: 'ENOENT' });
  expect(hasErrno(missing, 'EACCES', 'ENOENT')).toBe(true);
  expect(hasErrno(missing, 'EACCES')).toBe(false);
  expect(hasErrno(missing)).toBe(false);
  expect(hasErrno(new Error('ENOENT'), 'ENOENT')).toBe(false);
  expect(hasErrno({ code: 'ENOENT' }, 'ENOENT')).toBe(false);
});
