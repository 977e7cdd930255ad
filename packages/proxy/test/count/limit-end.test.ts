import { expect, test } from 'vitest';
import { limitEnd } from '../../src/count/limit-end.ts';

const now = Date.parse('2026-11-16T12:00:00Z');
const inSeconds = (seconds: number) => now + seconds * 1_000;

test.each([
  ['retry-after in seconds', { 'retry-after': '90' }, '', 90],
  ['retry-after as a date', { 'retry-after': 'Mon, 16 Nov 2026 12:05:00 GMT' }, '', 300],
  ['Anthropic’s window', { 'anthropic-ratelimit-unified-reset': String(now / 1_000 + 3_600) }, '', 3_600],
  [
    'the later of two windows',
    {
      'anthropic-ratelimit-requests-reset': '2026-11-16T12:00:10Z',
      'anthropic-ratelimit-tokens-reset': '2026-11-16T12:01:00Z',
    },
    '',
    60,
  ],
  ['OpenAI’s duration', { 'x-ratelimit-reset-tokens': '6m0.5s' }, '', 360.5],
  ['Codex’s body', {}, '{"error":{"type":"usage_limit_reached","resets_in_seconds":7200}}', 7_200],
  ['Gemini’s body', {}, '[{"error":{"code":429,"details":[{"@type":"x"},{"retryDelay":"34s"}]}}]', 34],
])('finds the end of a limit in %s', (_, headers, body, seconds) => {
  expect(limitEnd(headers, body, now)).toBe(inSeconds(seconds));
});

test.each([
  ['nothing', {}, ''],
  ['the past', { 'retry-after': 'Mon, 16 Nov 2020 12:05:00 GMT' }, ''],
  ['nonsense', { 'retry-after': '-5', 'x-ratelimit-reset-requests': 'soon' }, '{"error":{"resets_at":1e300}}'],
])('finds none in %s', (_, headers, body) => {
  expect(limitEnd(headers, body, now)).toBeNull();
});
