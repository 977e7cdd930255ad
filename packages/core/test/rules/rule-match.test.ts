import { PawlError } from '@pawl/schema/error';
import { expect, test } from 'vitest';
import { describeRule } from '../../src/rules/describe-rule.ts';
import { ruleFromRequest } from '../../src/rules/propose-rule.ts';
import { parseRule, ruleText } from '../../src/rules/rule-match.ts';
import { aCommand, aFile, aHost, worktree } from './fixture.ts';

test.each([
  ['command npm test', 'command npm test'],
  ['  command   npm  run * ', 'command npm run *'],
  [`command git commit -m 'a b'`, `command git commit -m 'a b'`],
  [`command grep '*' a"*"b*`, `command grep '*' 'a*b'*`],
  ['tool shell', 'tool Bash'],
  ['tool mcp__forge', 'tool mcp__forge__*'],
  ['tool mcp__forge__list', 'tool mcp__forge__list'],
  ['tool write_file src/**', 'tool Write src/**'],
  ['network EXAMPLE.org.', 'network example.org'],
  ['network *.example.org:443', 'network *.example.org:443'],
  ['network [::1]:80', 'network [::1]:80'],
])('%s is stored as %s', (text, stored) => {
  expect(ruleText(parseRule('deny', text))).toBe(stored);
  expect(ruleText(parseRule('deny', stored))).toBe(stored);
});

function refusalOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (error instanceof PawlError && error.code === 'invalid_input' && error.hint !== undefined) return error.message;
    throw error;
  }
  return 'no refusal';
}

test.each([
  ['', /begins with none of/],
  ['npm test', /begins with none of command, tool and network/],
  ['command', /no command/],
  ['command *', /name of the command has a wildcard/],
  ['command n*m test', /name of the command has a wildcard/],
  ['command npm test; rm x', /one simple command, and this has “;”/],
  ['command npm test && ls', /more than one command/],
  ['command npm $x', /this has a variable/],
  ['command npm $(id)', /this has a substitution/],
  ['command npm test > x', /this has a redirection/],
  ["command npm 'x", /this has an unfinished quote/],
  ['command A=b npm', /A=b is not a command/],
  ['command if', /if is not a command/],
  ['command sh -c *', /sh may run other commands/],
  ['command sudo *', /sudo may run other commands/],
  ['command find . -exec *', /find may run other commands/],
  ['command git -c * status', /git may run other commands/],
  ['command npm exec *', /npm may run other commands/],
  ['command npm run **', /one \* for any words/],
  ['tool', /names no tool/],
  ['tool *', /names no tool/],
  ['tool Bash', /would allow every command/],
  ['tool shell', /would allow every command/],
  ['tool WebFetch', /would allow every host/],
  ['tool web_fetch src/**', /would allow every host/],
  ['tool WebSearch src/**', /WebSearch has no path/],
  ['tool Write ../x', /without ~ . and \.\./],
  ['tool Write src/../x', /without ~ . and \.\./],
  ['tool Write ~/x', /without ~ . and \.\./],
  ['tool Write /', /a path is absolute/],
  ['network', /a name is such as/],
  ['network *', /would allow every host/],
  ['network *.org', /a \* stands before a domain/],
  ['network a.*.org', /letters, digits/],
  ['network *.1.2.3', /letters, digits|a \* stands/],
  ['network https://example.org', /a name is such as/],
  ['network example.org:0', /a name is such as/],
  ['network exämple.org', /letters, digits/],
  ['command npm\u200b test', /control or invisible character/],
  ['command npm\ntest', /control or invisible character/],
  [`command ${'a'.repeat(3_000)}`, /more than 2000 characters/],
])('allowing %j is refused', (text, why) => {
  expect(refusalOf(() => parseRule('allow', text))).toMatch(why);
});

test.each(['tool Bash', 'command sudo *', 'command sh -c *', 'network *'])('denying %s is a rule', (text) => {
  expect(ruleText(parseRule('deny', text))).toBe(text);
});

test.each([
  [aCommand('npm test'), 'command npm test'],
  [aCommand(`npm  "run" 'a b'`), `command npm run 'a b'`],
  [aCommand(`sh -c 'a | b'`), `command sh -c 'a | b'`],
  [aFile('Write', 'src/a.ts'), 'tool Write src/a.ts'],
  [aFile('Write', '.env'), 'tool Write .env'],
  [aFile('Read', '/etc/hosts', '/etc/hosts'), 'tool Read /etc/hosts'],
  [aHost('Example.org:443'), 'network example.org:443'],
  [{ kind: 'network' as const, tool: 'WebSearch', cwd: worktree, worktree }, 'tool WebSearch'],
  [{ kind: 'tool' as const, tool: 'mcp__forge__list', cwd: worktree, worktree }, 'tool mcp__forge__list'],
])('the narrowest rule for a request is the exact one', (request, match) => {
  expect(ruleFromRequest(request, 'project')).toEqual({ scope: 'project', effect: 'allow', match });
});

test.each([
  [aCommand('npm test | tee x'), /a pipe/],
  [aCommand('npm test $(id)'), /a substitution/],
  [aCommand('npm test && id'), /several commands/],
  [aCommand('A=b npm test'), /A=b is not a command/],
  [aCommand('npm run *'), /a pattern/],
  [aCommand('npm test', '/tmp'), /outside the worktree/],
  [aCommand(''), /no command/],
  [aFile('Write', 'src/link', null), /cannot be resolved/],
  [aFile('Write', 'src/*'), /a \* or \?/],
  [{ ...aFile('Write', 'a'), paths: [] }, /does not name one path/],
  [aHost('http://x'), /names no host/],
  [aHost('127.1'), /letters, digits/],
  [{ kind: 'tool' as const, tool: 'Bash', cwd: worktree, worktree }, /every command/],
])('no rule is proposed for a request that none can allow', (request, why) => {
  expect(refusalOf(() => ruleFromRequest(request, 'session'))).toMatch(why);
});

test.each([
  [
    'session',
    'allow',
    'command npm test',
    'Allows exactly the command “npm test” until this session ends, without asking.',
  ],
  [
    'project',
    'allow',
    'command npm run *',
    'Allows the command “npm run *”, with any further words but no options, for every agent of this project, until the rule is removed, without asking.',
  ],
  [
    'agent',
    'deny',
    'command git push',
    'Denies every command that runs “git push” for this agent, until the rule is removed.',
  ],
  [
    'user',
    'allow',
    'tool mcp__a__b',
    'Allows every call of mcp__a__b, whatever its input, for every agent of yours, until the rule is removed, without asking.',
  ],
] as const)('a rule for %s that should %s %s is described', (scope, effect, match, words) => {
  expect(describeRule({ scope, effect, match })).toBe(words);
});
