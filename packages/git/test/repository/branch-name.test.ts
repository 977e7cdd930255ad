import { execFileSync } from 'node:child_process';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkBranchName, checkRemoteName } from '../../src/repository/branch-name.ts';

const taken = ['main', 'work/calm-otter', 'a', '0', 'a.b_c-d/e', 'x'.repeat(200), 'a/b/c', 'release/1.2.3'];
const unusual = [
  'fix#12',
  'user@x',
  'ünï',
  'аdmin',
  '日本',
  'a.LOCK',
  '$(x)',
  "it's",
  'a&b;c|d',
  '+x',
  '%41',
  '@x',
  'a{b',
  '\u202ea',
];
const refused =
  '-x|--upload-pack=x|/a|a/|a//b|a..b|../a|a/../b|.a|a/.b|a.|a.lock|a.lock/b|a@{0}|@|HEAD|a b|a\n|a\nb|a\0b|a~1|a^|a:b|a?b|a*b|a[b|a\\b|$(touch x)|'.split(
    '|',
  );

test.each([...taken, ...unusual])('takes %j, as git does', (name) => {
  expect(checkBranchName(name)).toBe(name);
  expect(gitTakes(name)).toBe(true);
});

test.each([...refused, 'x'.repeat(241), '\ud800'])('refuses %j', (name) =>
  expect(() => checkBranchName(name)).toThrow(expect.objectContaining({ code: 'invalid_input' })),
);

test('git refuses the same names', () => {
  for (const name of refused.filter((each) => !each.includes('\0') && each !== 'HEAD'))
    expect([name, gitTakes(name)]).toEqual([name, false]);
});

test('any name gets the answer that git has for it', () => {
  const piece = fc.constantFrom('a', '.', '/', '@', '{', '-', '#', 'ü', '.lock', '~', ' ', '\\', '*');
  fc.assert(
    fc.property(fc.array(piece, { minLength: 1, maxLength: 6 }), (pieces) => {
      const name = pieces.join('');
      expect([name, takes(name)]).toEqual([name, gitTakes(name)]);
    }),
    { numRuns: 60 },
  );
});

test('a remote has a plain name', () => {
  expect(checkRemoteName('origin')).toBe('origin');
  for (const name of ['fix#12', 'a"b', '-x', 'a..b', ''])
    expect(() => checkRemoteName(name)).toThrow(expect.objectContaining({ code: 'invalid_input' }));
});

function takes(name: string): boolean {
  try {
    return checkBranchName(name) === name;
  } catch {
    return false;
  }
}

function gitTakes(name: string): boolean {
  if (name.startsWith('-')) return false;
  try {
    execFileSync('git', ['check-ref-format', `refs/heads/${name}`], { stdio: 'ignore' });
    return name !== 'HEAD' && name !== '@';
  } catch {
    return false;
  }
}
