import { expect, test } from 'vitest';
import {
  limitAllows,
  limitAllowsCommand,
  limitCovers,
  limitMayDeny,
  limitMayDenyCommand,
} from '../../src/definitions/tool-limit.ts';

test.each([
  ['git:*', 'git', true],
  ['git:*', 'git log --oneline', true],
  ['git:*', '  git log', true],
  ['git:*', 'gitk', false],
  ['git:*', 'rm -rf git', false],
  ['git log:*', 'git log -1', true],
  ['git log:*', 'git  "log" -1', true],
  ['git log:*', "git log '; rm x'", true],
  ['git log:*', 'git push', false],
  ['git log:*', 'git logs', false],
  ['git log:*', 'git -c core.pager=x log', false],
  ['npm test', 'npm test', true],
  ['npm test', 'npm test -- --watch', false],
  ['npm test | tee x', 'npm test | tee x', true],
  ['npm run test*', 'npm run test:unit', true],
  ['npm run test*', 'npm run test:unit --silent', true],
  ['npm run test*', 'npm run other', false],
])('the limit %s allows the command %j: %s', (limit, argument, expected) => {
  expect(limitAllowsCommand(limit, argument)).toBe(expected);
});

test.each([
  ['src/**', 'src/a/b.ts', true],
  ['src/**', 'src/../secret', false],
  ['src/**', 'lib/a.ts', false],
])('the limit %s allows the path %j: %s', (limit, argument, expected) => {
  expect(limitAllows(limit, argument)).toBe(expected);
});

test.each([
  '; rm x',
  '&& rm x',
  '| sh',
  '\nrm x',
  '`rm x`',
  '$(rm x)',
  '"$(rm x)"',
  '${x}',
  '$x',
  "$'\\x72m'",
  '> ~/.profile',
  '< /etc/passwd',
  '<(rm x)',
  '& rm x',
  '*',
  '{a,b}',
  '~',
  "'unfinished",
  '\u00a0',
  '\0',
  '\u202e',
])('a command that contains %j is outside every limit', (rest) => {
  expect(limitAllowsCommand('git:*', `git log ${rest}`)).toBe(false);
  expect(limitAllowsCommand('git*', `git log ${rest}`)).toBe(false);
});

test.each(["r''m x", 'r\\m x', '/bin/rm x', 'sudo rm x', 'sh -c \'r""m x\''])('denied rm matches %j', (command) => {
  expect(limitMayDenyCommand('rm:*', command)).toBe(true);
});

test('a denied command is found with options between its words', () => {
  expect(limitMayDenyCommand('git push:*', 'git -C x push')).toBe(true);
  expect(limitMayDenyCommand('git push:*', 'git pull')).toBe(false);
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
  expect(limitMayDenyCommand(limit, argument)).toBe(expected);
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
