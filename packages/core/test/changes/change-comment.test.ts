import { blockingOf, kindOfComment, refuseTooMany } from '@pawl/core/changes/change-comment';
import type { ChangeComment } from '@pawl/schema/change';
import { limits } from '@pawl/schema/limit';
import { describe, expect, test } from 'vitest';

describe('a comment [S4-14]', () => {
  test.each([
    ['[BLOCKING] it leaks', 'blocking'],
    ['  \n\t[Blocking] it leaks', 'blocking'],
    ['I would not call this [BLOCKING]', 'note'],
    ['BLOCKING it leaks', 'note'],
    ['[BLOCKING', 'note'],
    ['', 'note'],
  ])('%j is %s', (body, kind) => expect(kindOfComment(body)).toBe(kind));

  test('blocks until it is addressed', () => {
    const comments = [
      { id: 'a', kind: 'blocking', addressedAt: null },
      { id: 'b', kind: 'blocking', addressedAt: 1 },
      { id: 'c', kind: 'note', addressedAt: null },
    ] as ChangeComment[];
    expect(blockingOf(comments).map(({ id }) => id)).toEqual(['a']);
  });
});

test('remarks leave room for objections and answers, and those leave room for people', () => {
  const many = (length: number, of = (index: number) => `agent ${index}`) =>
    Array.from({ length }, (_, index) => ({ agentId: of(index) }));
  const isRefused = (earlier: { agentId: string }[], agentId: string | null, isRemark: boolean) => {
    try {
      refuseTooMany(earlier, { agentId, isRemark });
      return false;
    } catch (error) {
      expect(error).toMatchObject({ code: 'busy' });
      return true;
    }
  };
  const flood = many(limits.changeCommentsOfOne, () => 'author');
  expect(isRefused(flood.slice(1), 'author', true)).toBe(false);
  expect(isRefused(flood, 'author', false)).toBe(true);
  expect(isRefused(flood, 'reviewer', true)).toBe(false);
  const remarks = many(limits.changeRemarks);
  expect(isRefused(remarks, 'x', true)).toBe(true);
  expect(isRefused(remarks, 'x', false)).toBe(false);
  const agents = many(limits.changeCommentsOfAgents);
  expect(isRefused(agents, 'x', false)).toBe(true);
  expect(isRefused(agents, null, true)).toBe(false);
  expect(isRefused(many(limits.changeComments), null, false)).toBe(true);
});
