import { processorMs } from '@pawl/testing/processor-time';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { limitWordsIn } from '../src/fault.ts';
import { opencode } from '../src/preset/opencode.ts';
import { resetTimeIn } from '../src/reset-time.ts';

/** Any text: also with control characters, and with halves of characters that mean nothing alone. */
const anyText = fc.oneof(
  fc.string(),
  fc.array(fc.nat(0xffff), { maxLength: 60 }).map((codes) => String.fromCharCode(...codes)),
  fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
);

/** 15 November 2026, 10:46:30 in UTC. */
const now = Date.UTC(2026, 10, 15, 10, 46, 30);
const utc = (day: number, hour: number, minute = 0) => Date.UTC(2026, 10, day, hour, minute);
/** The same on the machine's own clock. */
const local = (day: number, hour: number, minute = 0) => new Date(2026, 10, day, hour, minute).getTime();
const localNow = local(15, 10, 46) + 30_000;

describe('when a limit ends', () => {
  test.each([
    ["You've hit your 5-hour limit · resets 12:45pm (UTC)", utc(15, 12, 45)],
    ["You've hit your 5-hour limit · resets 5:41am (UTC)", utc(16, 5, 41)],
    ["You've hit your weekly limit · resets Nov 20, 5pm (UTC)", utc(20, 17)],
    ["You've hit your weekly limit · resets Nov 20 at 5pm (UTC)", utc(20, 17)],
    ['resets 12am (UTC)', utc(16, 0)],
    ['resets 12:30pm (UTC)', utc(15, 12, 30)],
    ['resets 7pm (Europe/Berlin)', utc(15, 18)],
    ['resets 5am (America/New_York)', utc(16, 10)],
    ['resets 10:46am (UTC)', utc(15, 10, 46)],
    ['try again in 2 hours 5 minutes', now + 125 * 60_000],
    ['try again in 3 days 4 hours 5 minutes.', now + (3 * 24 * 60 + 4 * 60 + 5) * 60_000],
    ['Please retry in 34.5s.', now + 34_500],
    ['try again in 1 day, 2 hours and 3 minutes', now + (26 * 60 + 3) * 60_000],
    ['Your quota will reset after 2h5m3s.', now + (125 * 60 + 3) * 1000],
    ['Try again in 45 minutes', now + 45 * 60_000],
    ['{"resets_at":1794746710}', 1_794_746_710_000],
    ['Claude AI usage limit reached|1794746710', 1_794_746_710_000],
    ['limited until 2026-11-15T12:00:00Z', utc(15, 12)],
    ['"responseHeaders":{"retry-after":"10800","date":"x"}', now + 3 * 3_600_000],
    ['You exceeded your current quota (retry-after: 10800)', now + 3 * 3_600_000],
    ['Retry-After=90', now + 90_000],
  ])('%s', (words, until) => {
    expect(resetTimeIn(words, now)).toBe(until);
  });

  test.each([
    ['… to purchase more credits or try again at 12:46 PM.', local(15, 12, 46)],
    ['try again at 5:43 AM.', local(16, 5, 43)],
    ['try again at 10:46 AM.', local(15, 10, 46)],
    ['try again at Nov 20th, 2026 5:43 AM.', local(20, 5, 43)],
    ['try again at 17:05', local(15, 17, 5)],
  ])("%s, by the machine's own clock", (words, until) => {
    expect(resetTimeIn(words, localNow)).toBe(until);
  });

  test('in another year', () => {
    const december = Date.UTC(2026, 11, 30, 12);
    expect(resetTimeIn('resets Jan 2 at 5pm (UTC)', december)).toBe(Date.UTC(2027, 0, 2, 17));
  });

  test.each([
    '',
    'Quota exceeded. Check your plan and billing details.',
    'try again later',
    'try again at 99:99 PM',
    'resets 13pm (UTC)',
    'resets 5pm (Nowhere/Atall)',
    'resets Foo 5 at 5pm',
    'try again in 9999 days',
    'try again in 0 seconds',
    'resets 5',
    'resets at 1',
    'reset=9999999999999',
    'timestamp=2026-11-15T10:46:29.120Z level=ERROR You exceeded your current quota',
    '2026-11-15T10:46:29.120Z ERROR usage limit',
    'retry-after: soon',
    'retry-after: 0',
    'try again at Nov 20th, 2019 5:43 AM',
  ])('%j has no time', (words) => {
    expect(resetTimeIn(words, now)).toBeNull();
  });

  test('any text gives a near time or none, and a long one is fast', () => {
    const parts = fc.constantFrom(
      'resets ',
      'try again ',
      'at ',
      'in ',
      '5',
      '12:45',
      'pm',
      ' (UTC)',
      'Nov ',
      '99',
      'h',
      ' days ',
      '.',
    );
    const texts = fc.oneof(
      anyText,
      fc.array(parts, { maxLength: 30 }).map((all) => all.join('')),
    );
    fc.assert(
      fc.property(texts, (words) => {
        const until = resetTimeIn(words, now);
        if (until !== null) expect(Math.abs(until - now)).toBeLessThan(63 * 24 * 3_600_000);
      }),
      { numRuns: 300 },
    );
    const spentMs = processorMs(() => {
      for (const words of ['resets ', 'try again in 1 ', 'resets Nov 1', '1']) resetTimeIn(words.repeat(200_000), now);
    });
    expect(spentMs).toBeLessThan(1_000);
  });
});

describe('a line of a log [S3-36]', () => {
  const line = (rest: string) =>
    `timestamp=2026-11-15T10:46:29.120Z level=ERROR service=llm error={"name":"AI_APICallError","message":"You exceeded your current quota",${rest}}`;

  test.each([
    ['has a time of its own, which is no end of a limit', line('"statusCode":429'), null],
    [
      'tells when the server said to come back',
      line('"statusCode":429,"responseHeaders":{"retry-after":"10800"}'),
      now + 3 * 3_600_000,
    ],
  ])('%s', (_what, words, until) => {
    const { patterns } = opencode;
    const told = limitWordsIn(`timestamp=2026-11-15T10:40:00Z level=ERROR retry-after: 7\n${words}\n`, patterns);
    expect(told).toContain('exceeded your current quota');
    expect(resetTimeIn(told ?? '', now, patterns.reset)).toBe(until);
  });

  test('only the preset’s patterns count', () => {
    expect(resetTimeIn('free again at 5pm (UTC)', now)).toBeNull();
    expect(resetTimeIn('free again at 5pm (UTC)', now, ['free again'])).toBe(utc(15, 17));
    expect(resetTimeIn('resets 5pm (UTC)', now, ['free again'])).toBeNull();
    expect(limitWordsIn('nothing of the kind', opencode.patterns)).toBeNull();
  });
});
