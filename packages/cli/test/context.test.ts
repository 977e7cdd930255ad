import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createContext } from '../src/context.ts';

let out = '';
let error = '';
beforeEach(() => {
  out = '';
  error = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => ((out += String(text)), true));
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => ((error += String(text)), true));
});
afterEach(() => vi.restoreAllMocks());

/** Lets a context print one of each. */
function print(options: { json?: boolean; quiet?: boolean }): { out: string; error: string } {
  const context = createContext({ ...options, home: '/nowhere' });
  context.answer('agent', { a: 1 }, () => 'answer');
  context.record('event', { b: 2 }, () => 'record');
  context.record('event', { b: 3 }, () => null);
  context.say('word');
  return { out, error };
}

describe('the output of a command', () => {
  test('text by default, and messages on stderr', () => {
    expect(print({})).toEqual({ out: 'answer\nrecord\n', error: 'word\n' });
  });

  test('with --json one envelope per line, and nothing else', () => {
    const printed = print({ json: true });
    expect(printed.error).toBe('');
    expect(
      printed.out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual([
      { pawl: 1, kind: 'agent', data: { a: 1 } },
      { pawl: 1, kind: 'event', data: { b: 2 } },
      { pawl: 1, kind: 'event', data: { b: 3 } },
    ]);
  });

  test('with --quiet nothing', () => {
    expect(print({ quiet: true })).toEqual({ out: '', error: '' });
  });
});
