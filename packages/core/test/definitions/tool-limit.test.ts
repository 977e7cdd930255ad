import { expect, test } from 'vitest';
import { limitAllows, limitCovers, limitMayDeny } from '../../src/definitions/tool-limit.ts';

test.each([
  ['git:*', 'git', true],
  ['git:*', 'git log --oneline', true],
  ['git:*', '  git log', true],
  ['git:*', 'gitk', false],
  ['git:*', 'rm -rf git', false],
  ['git log:*', 'git log -1', true],
  ['git log:*', 'git push', false],
  ['npm test', 'npm test', true],
  ['npm test', 'npm test -- --watch', false],
  ['npm run test*', 'npm run test:unit', true],
  ['src/**', 'src/a/b.ts', true],
  ['src/**', 'src/../secret', false],
  ['src/**', 'lib/a.ts', false],
])('the limit %s allows %j: %s', (limit, argument, expected) => {
  expect(limitAllows(limit, argument)).toBe(expected);
});

test.each([
  '; rm x',
  '&& rm x',
  '| sh',
  '\nrm x',
  '`rm x`',
  '$(rm x)',
  '${x}',
  '> ~/.profile',
  '< /etc/passwd',
  '& rm x',
])('a command that contains %j is outside every limit', (rest) => {
  expect(limitAllows('git:*', `git log ${rest}`)).toBe(false);
  expect(limitAllows('git*', `git log ${rest}`)).toBe(false);
});

test.each([
  ['rm:*', 'rm -rf x', true],
  ['rm:*', 'ls; rm x', true],
  ['rm:*', 'npm run format', false],
  ['rm:*', 'format rm', true],
  ['git push:*', 'cd x && git push', true],
  ['src/**', 'cat src/a', true],
  ['npm test', 'npm install', false],
])('denied %s matches %j: %s', (limit, argument, expected) => {
  expect(limitMayDeny(limit, argument)).toBe(expected);
});

test.each([
  ['git:*', 'git:*', true],
  ['git:*', 'git log:*', true],
  ['git log:*', 'git:*', false],
  ['git:*', 'git*', false],
  ['git:*', 'git log*', true],
  ['git*', 'git:*', true],
  ['git:*', 'git status', true],
  ['git:*', 'git status; rm x', false],
  ['git status', 'git:*', false],
  ['src/**', 'src/a/**', true],
  ['src/a/**', 'src/**', false],
])('%s covers %s: %s', (outer, inner, expected) => {
  expect(limitCovers(outer, inner)).toBe(expected);
});
