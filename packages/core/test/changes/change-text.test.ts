import {
  checkChangeText,
  checkTitle,
  requireChangeText,
  summaryFrom,
  titleFrom,
  titleOfWork,
} from '@pawl/core/changes/change-text';
import { limits } from '@pawl/schema/limit';
import { expect, test } from 'vitest';

test('a title is one line without control characters, and too long is refused', () => {
  expect(checkTitle('  Fix the door \u001b]0;owned\u0007\u009b31m ')).toBe('Fix the door  ]0;owned 31m');
  expect(checkTitle('a \ud800 b')).toBe('a \ufffd b');
  expect(checkTitle('x'.repeat(limits.changeTitleCharacters))).toHaveLength(limits.changeTitleCharacters);
  const refusals: [string, string][] = [
    ['two\nlines', 'invalid_input'],
    ['two\u2028lines', 'invalid_input'],
    ['a\0b', 'invalid_input'],
    [' \n ', 'invalid_input'],
    ['x'.repeat(limits.changeTitleCharacters + 1), 'too_large'],
  ];
  for (const [title, code] of refusals) expect(() => checkTitle(title)).toThrow(expect.objectContaining({ code }));
});

test('the title is the subject of an only commit; of several, the assignment, else the newest subject', () => {
  const work = { subject: 'fix: the door', isOnly: true, assignment: 'Repair the house\nfrom the ground up' };
  expect(titleOfWork(work)).toBe('fix: the door');
  expect(titleOfWork({ ...work, subject: ' ' })).toBe('Repair the house');
  expect(titleOfWork({ ...work, isOnly: false })).toBe('Repair the house');
  expect(titleOfWork({ ...work, isOnly: false, assignment: null })).toBe('fix: the door');
});

test('a title is the first line of the first non-empty text, cut to length', () => {
  expect(titleFrom(['Fix it\nwith care', 'subject'])).toBe('Fix it');
  expect(titleFrom([null, 'subject'])).toBe('subject');
  expect(titleFrom(['\u0000\u001b', ''])).toBe('A change without a title');
  expect(titleFrom(['x'.repeat(10_000)])).toHaveLength(limits.changeTitleCharacters);
});

test('a text is kept as it is, bounded, and never contains NUL', () => {
  const hostile = '# <script>alert(1)</script> \u001b[31m $(rm -rf /) \u202e';
  expect(checkChangeText('summary', hostile)).toBe(hostile);
  expect(() => checkChangeText('summary', 'x'.repeat(limits.changeTextCharacters + 1))).toThrow(/at most/);
  expect(() => requireChangeText('reason', '  ')).toThrow(/empty/);
  expect(summaryFrom(`\0${'x'.repeat(limits.changeTextCharacters * 2)}`)).toHaveLength(limits.changeTextCharacters);
});
