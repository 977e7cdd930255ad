import { wordId } from '@pawl/testing/plan-records';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anchorAt, findAnchor, rangesOf, revisionText, threadState, unansweredText } from '../../src/plan/review.ts';

const thread = {
  id: wordId('thread1'),
  initiativeId: wordId('plan'),
  phaseId: wordId('phase'),
  anchor: null,
  body: 'say why\nsecond line',
  createdAt: 1,
  revisionId: null,
  answer: null,
  answeredAt: null,
  answeredBy: null,
  resolvedAt: null,
};

describe('a comment on a line', () => {
  const file = ['import a', '', 'function one() {', '  return 1;', '}', '', 'function two() {', '  return 2;', '}'];

  test('follows its line through a rebase, and is outdated when the line is gone [planner 20]', () => {
    const anchor = anchorAt(file.join('\n'), 'a.ts', 4);
    expect(anchor).toMatchObject({ text: '  return 1;', before: ['import a', '', 'function one() {'] });
    expect(findAnchor(file.join('\n'), anchor)).toBe(4);
    expect(findAnchor(['// new', '// lines', ...file].join('\n'), anchor)).toBe(6);
    expect(findAnchor(file.join('\n').replace('return 1', 'return one'), anchor)).toBeNull();
    expect(findAnchor(null, anchor)).toBeNull();
  });

  test('chooses among equal lines by their neighbours, and takes no lonely bracket for the old one [planner 20]', () => {
    const bracket = anchorAt(file.join('\n'), 'a.ts', 9);
    expect(findAnchor(file.join('\n'), bracket)).toBe(9);
    expect(findAnchor(['x', ...file].join('\n'), bracket)).toBe(10);
    expect(findAnchor('a\n}\nb', bracket)).toBeNull();
    expect(() => anchorAt('one line', 'a.ts', 2)).toThrow('there is no line 2');
  });

  test('is found wherever lines are added around it [planner 20]', () => {
    const word = fc.stringMatching(/^[a-z]{1,6}$/);
    fc.assert(
      fc.property(fc.array(word), fc.array(word), (above, below) => {
        const anchor = anchorAt(file.join('\n'), 'a.ts', 8);
        expect(findAnchor([...above, ...file, ...below].join('\n'), anchor)).toBe(above.length + 8);
      }),
    );
  });
});

test('works that follow each other are one range, whatever their order [planner 23]', () => {
  const work = (from: string, to: string) => ({ taskId: wordId(from), from, to });
  expect(rangesOf([work('b', 'c'), work('a', 'b'), work('x', 'y')])).toEqual([
    { from: 'a', to: 'c' },
    { from: 'x', to: 'y' },
  ]);
  expect(rangesOf([])).toEqual([]);
});

test('a revision names every thread, its place, and how to answer [planner 19]', () => {
  const placed = { ...thread, anchor: anchorAt('a\nb', 'src/a.ts', 2), id: wordId('thread2') };
  const text = revisionText({ name: 'one' }, [thread, placed]);
  expect(text).toContain('Thread thread10\n\n> say why\n> second line');
  expect(text).toContain('Thread thread20 (src/a.ts:2)\n\n    b');
  expect(text).toContain('pawl plan answer');
});

test('a thread is open, sent, answered or resolved; only sent ones are missed [planner 19]', () => {
  const sent = { ...thread, revisionId: wordId('task') };
  expect([thread, sent, { ...sent, answeredAt: 2 }, { ...thread, resolvedAt: 3 }].map(threadState)).toEqual([
    'open',
    'sent',
    'answered',
    'resolved',
  ]);
  expect(unansweredText([thread, sent, { ...sent, answeredAt: 2 }])).toEqual([
    'The review thread thread10 has no answer: say why',
  ]);
});
