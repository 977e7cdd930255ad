import { processorMs } from '@pawl/testing/processor-time';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkPatterns, faultIn, faultInWords, faultOf } from '../src/fault.ts';

/** Any text: also with control characters, and with halves of characters that mean nothing alone. */
const anyText = fc.oneof(
  fc.string(),
  fc.array(fc.nat(0xffff), { maxLength: 60 }).map((codes) => String.fromCharCode(...codes)),
  fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
);

const patterns = {
  limit: ['hit your .+ limit', 'retrying in \\d+s .*429'],
  auth: ['invalid key', 'limit of logins'],
  transient: ['overloaded|at capacity'],
};

describe('error messages of model vendors', () => {
  test.each([
    ["You've hit your 5-hour limit · resets 5:41am (UTC)", 'limit'],
    ["You've hit your limit · resets 5:41am (UTC)", 'limit'],
    ['You’ve hit your usage limit. Upgrade to Pro or try again at 5:43 AM.', 'limit'],
    ['Quota exceeded. Check your plan and billing details.', 'limit'],
    ['Credit balance is too low', 'limit'],
    ['[API Error: You have exhausted your daily quota on this model.]', 'limit'],
    ['Invalid API key · Fix external API key', 'auth'],
    ['Not logged in · Please run /login', 'auth'],
    ['OAuth token has expired. Please obtain a new token', 'auth'],
    ['API key not valid. Please pass a valid API key.', 'auth'],
    ['unexpected status 401 Unauthorized: Incorrect API key provided', 'auth'],
    ['API Error: 529 Overloaded.', 'transient'],
    ['exceeded retry limit, last status: 429 Too Many Requests', 'transient'],
    ['stream disconnected before completion: Transport error', 'transient'],
    ['API Error: Connection to the API was lost (ECONNRESET).', 'transient'],
    ['[API Error: terminated]', 'transient'],
    ['Selected model is at capacity. Please try a different model.', 'transient'],
    ['prompt is too long: 210000 tokens > 200000 maximum', 'other'],
    ['No conversation found with session ID: 1', null],
    ['', null],
  ])('%s', (words, fault) => {
    expect(faultInWords(words)).toBe(fault);
  });

  test.each<[number | null, string, 'limit' | 'transient', string | null]>([
    [429, 'Rate limit reached for requests', 'transient', 'transient'],
    [429, 'Rate limit reached for requests', 'limit', 'limit'],
    [429, 'You exceeded your current quota', 'transient', 'limit'],
    [null, '429 rate_limit_error', 'limit', 'limit'],
    [null, '429 rate_limit_error', 'transient', 'transient'],
    [401, 'x', 'limit', 'auth'],
    [403, 'x', 'limit', 'auth'],
    [402, 'x', 'limit', 'limit'],
    [500, 'x', 'limit', 'transient'],
    [529, 'Overloaded', 'limit', 'transient'],
    [408, 'x', 'limit', 'transient'],
    [400, 'API key not valid', 'limit', 'auth'],
    [400, 'Credit balance is too low', 'limit', 'limit'],
    [400, 'x', 'limit', 'other'],
    [null, 'x', 'limit', null],
    [null, 'Rate limit reached for requests: limit 500, used 500. Please try again in 3600s.', 'limit', 'limit'],
    [null, 'Rate limit reached for requests', 'transient', 'transient'],
  ])('a status of %j with %j', (status, words, tooMany, fault) => {
    expect(faultOf(status, words, tooMany)).toBe(fault);
  });
});

describe("a preset's own patterns", () => {
  test.each([
    ['HIT YOUR weekly LIMIT', 'limit'],
    ['first line\nRetrying in 60s (attempt 1/10): [API Error: 429\nlast', 'limit'],
    ['Invalid key', 'auth'],
    ['the model is overloaded', 'transient'],
    ['hit your\nlimit', null],
    ['Retrying in 60s\n429', null],
    ['', null],
  ])('%j', (words, fault) => {
    expect(faultIn(words, patterns)).toBe(fault);
  });

  test('only the end of a very long text is read', () => {
    expect(faultIn(`invalid key${'\nnothing'.repeat(10_000)}`, patterns)).toBeNull();
    expect(faultIn(`${'\nnothing'.repeat(10_000)}\ninvalid key`, patterns)).toBe('auth');
  });

  test('an invalid pattern is refused, and ignored if it was not checked', () => {
    const given = { limit: ['(key'], auth: ['key'], transient: [] };
    expect(() => checkPatterns(given)).toThrow(
      expect.objectContaining({ code: 'usage', message: expect.stringContaining('"(key"') as string }),
    );
    expect(faultIn('a key', given)).toBe('auth');
    expect(() => checkPatterns({ ...given, limit: Array.from({ length: 51 }, () => 'a') })).toThrow(/more than 50/);
    expect(() => checkPatterns(patterns)).not.toThrow();
  });

  test('any text gives a result', () => {
    fc.assert(
      fc.property(anyText, (words) => {
        expect([null, 'limit', 'auth', 'transient']).toContain(faultIn(words, patterns));
        expect([null, 'limit', 'auth', 'transient', 'other']).toContain(faultInWords(words));
      }),
      { numRuns: 50 },
    );
  });

  test('a megabyte of text that nearly matches is fast', () => {
    const spentMs = processorMs(() => {
      for (const words of ['hit your ', 'token ', 'api ', 'invalid ', '4', 'connection '])
        expect(faultOf(null, words.repeat(200_000), 'limit')).toBeNull();
    });
    expect(spentMs).toBeLessThan(2_000);
  });
});
