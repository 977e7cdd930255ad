import type { PathLock } from '@pawl/schema/runtime/path-lock';
import { lockGlobSchema } from '@pawl/schema/runtime/path-lock';
import { expect, test } from 'vitest';
import { isWithin, lockAgainst, lockInTheWay } from '../../src/locks/path-lock.ts';

const lock = (agentId: string, ...globs: string[]): PathLock => ({
  id: 'lock',
  projectId: 'project',
  agentId,
  globs,
  createdAt: 0,
  expiresAt: 1,
});

test('a path is within a pattern, and nothing beside it is [W2-05]', () => {
  expect(isWithin(['src/**', 'README.md'], 'src/a/b.ts')).toBe(true);
  expect(isWithin(['src/**', 'README.md'], 'README.md')).toBe(true);
  expect(isWithin(['src/**'], 'srcs/a.ts')).toBe(false);
  expect(isWithin(['src/'], 'src/a.ts')).toBe(true);
  expect(isWithin([], 'a')).toBe(false);
});

test('a lock binds everybody but its owner [W2-06]', () => {
  const locks = [lock('one', 'src/api/**')];
  expect(lockAgainst(locks, 'two', 'src/api/a.ts')).toBe(locks[0]);
  expect(lockAgainst(locks, 'one', 'src/api/a.ts')).toBeNull();
  expect(lockAgainst(locks, 'two', 'src/web/a.ts')).toBeNull();
});

test.each([
  ['src/**', 'src/api/**', true],
  ['src/api/**', 'src/web/**', false],
  ['**/*.ts', 'src/a.ts', true],
  ['**/*.ts', 'docs/**', true],
  ['a.ts', 'b.ts', false],
  ['a.ts', 'a.ts', true],
  ['src/', 'src/a.ts', true],
])('patterns that may meet are in the way of each other: %s and %s: %s', (one, other, meet) => {
  expect(lockInTheWay([lock('one', one)], 'two', [other]) !== null).toBe(meet);
  expect(lockInTheWay([lock('one', other)], 'two', [one]) !== null).toBe(meet);
  expect(lockInTheWay([lock('two', one)], 'two', [other])).toBeNull();
});

test.each(['/etc/**', '~/x', '../x', 'a/../../b', 'a\0b', ''])(
  'a pattern outside of the worktree is refused: %j',
  (glob) => {
    expect(lockGlobSchema.safeParse(glob).success).toBe(false);
  },
);
