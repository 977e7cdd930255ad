import { expect, test } from 'vitest';
import { checkBranchName } from '../src/branch-name.ts';

test.each(['main', 'work/calm-otter', 'a', '0', 'a.b_c-d/e', 'x'.repeat(200), 'a/b/c', 'release/1.2.3'])(
  'takes %j',
  (name) => expect(checkBranchName(name)).toBe(name),
);

test.each([
  '',
  '-x',
  '--upload-pack=x',
  '/a',
  'a/',
  'a//b',
  'a..b',
  '../a',
  'a/../b',
  '.a',
  'a/.b',
  'a.',
  'a./b',
  'a.lock',
  'a.lock/b',
  'a.LOCK',
  'a@{0}',
  '@',
  'HEAD',
  'a b',
  'a\n',
  'a\nb',
  'a\0b',
  'a~1',
  'a^',
  'a:b',
  'a?b',
  'a*b',
  'a[b',
  'a\\b',
  '$(touch x)',
  '\u202ea',
  'аdmin',
  'x'.repeat(201),
])('refuses %j', (name) =>
  expect(() => checkBranchName(name)).toThrow(expect.objectContaining({ code: 'invalid_input' })),
);
