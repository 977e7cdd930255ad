import { expect, test } from 'vitest';
import { statusInWords } from '../src/fault.ts';

test.each([
  ['You’ve hit your usage limit.', 429],
  ["You've hit your 5-hour limit · resets 5am", 429],
  ['Quota exceeded. Check your plan and billing details.', 429],
  ['429 {"type":"rate_limit_error"}', 429],
  ['Selected model is at capacity', 529],
  ['Overloaded', 529],
  ['unexpected status 401 Unauthorized', 401],
  ['the file has 4290 lines', null],
  ['', null],
])('"%s" means %s', (text, status) => {
  expect(statusInWords(text)).toBe(status);
});
