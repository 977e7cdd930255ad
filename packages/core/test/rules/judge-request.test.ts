import { expect, test } from 'vitest';
import { judgeRequest } from '../../src/rules/judge-request.ts';
import { aCommand, aFile, aHost, allow, deny, effectOf, worktree } from './fixture.ts';

test('without rules everything is asked', () => {
  for (const request of [aCommand('ls'), aFile('Read', 'a'), aHost('example.org')]) {
    expect(judgeRequest([], request)).toEqual({ effect: 'ask', rules: [], reason: 'no rule matches' });
  }
});

test.each([
  ['tool Write src/**', 'Write', 'src/a/b.ts', 'allow'],
  ['tool Write src/**', 'write_file', 'src/a.ts', 'allow'],
  ['tool Write src/**', 'Edit', 'src/a.ts', 'ask'],
  ['tool Write src/**', 'Write', 'lib/a.ts', 'ask'],
  ['tool Write src/**', 'Write', 'srcs/a.ts', 'ask'],
  ['tool Write src/*.ts', 'Write', 'src/a/b.ts', 'ask'],
  ['tool Write src/**', 'Write', 'src/.env', 'ask'],
  ['tool Write **', 'Write', '.git/hooks/pre-commit', 'ask'],
  ['tool Write *', 'Write', '.envrc', 'ask'],
  ['tool Write .github/**', 'Write', '.github/workflows/ci.yml', 'allow'],
  ['tool Write .github/**', 'Write', '.github/.hidden', 'ask'],
  ['tool Read', 'Read', 'a/b.ts', 'allow'],
  ['tool Read', 'Read', '.env', 'ask'],
  ['tool Read', 'Write', 'a/b.ts', 'ask'],
])('%s for %s on %s: %s', (rule, tool, path, effect) => {
  expect(effectOf([allow(rule)], aFile(tool, path))).toBe(effect);
});

test.each([
  ['a link out of the worktree', 'src/link', '/etc/passwd'],
  ['a link to another place in it', 'src/link', `${worktree}/secret/key`],
  ['a link to a sibling with the same start', 'src/link', `${worktree}-2/src/a`],
  ['a path that cannot be resolved', 'src/loop', null],
  ['dots', 'src/../../x', '/home/ada/work/x'],
  ['a real path with dots', 'src/a', `${worktree}/src/../../x`],
  ['an absolute path', '/etc/passwd', '/etc/passwd'],
  ['a relative real path', 'src/a', 'src/a'],
  ['NUL', 'src/a\0b', `${worktree}/src/a\0b`],
])('a relative allow rule does not match %s', (_, given, real) => {
  for (const rule of ['tool Write src/**', 'tool Write']) {
    if (rule === 'tool Write' && real === `${worktree}/secret/key`) continue;
    expect(effectOf([allow(rule)], aFile('Write', given, real))).toBe('ask');
  }
});

test.each([
  ['the file itself', 'secret/key', `${worktree}/secret/key`],
  ['a link to it', 'src/link', `${worktree}/secret/key`],
  ['a denied name that leads elsewhere', 'secret/link', '/elsewhere/key'],
  ['a denied name that cannot be resolved', 'secret/loop', null],
  ['dots', 'src/../secret/key', `${worktree}/secret/key`],
  ['dots that cannot be resolved', './src//../secret/./key', null],
  ['upper case', 'Secret/KEY', `${worktree}/Secret/KEY`],
  ['an absolute path', `${worktree}/secret/key`, `${worktree}/secret/key`],
  ['a hidden file below', 'secret/.key', `${worktree}/secret/.key`],
])('a deny rule matches %s, by any tool that does the same', (_, given, real) => {
  for (const tool of ['Write', 'Edit', 'MultiEdit', 'NotebookEdit', 'apply_patch']) {
    const rules = [allow(`tool ${tool === 'apply_patch' ? 'Edit' : tool}`), deny('tool Write secret/**')];
    expect(effectOf(rules, aFile(tool, given, real))).toBe('deny');
  }
});

test('one denied or unmatched path of several decides', () => {
  const paths = [`${worktree}/src/a`, `${worktree}/secret/b`].map((real) => ({ given: real, real }));
  const request = { ...aFile('Edit', 'x'), paths };
  expect(effectOf([allow('tool Edit'), deny('tool Edit secret/**')], request)).toBe('deny');
  expect(effectOf([allow('tool Edit src/**')], request)).toBe('ask');
  expect(effectOf([allow('tool Edit')], request)).toBe('allow');
  expect(effectOf([allow('tool Edit')], { ...request, paths: [] })).toBe('ask');
});

test('a search above a denied file is asked', () => {
  const rules = [allow('tool Grep'), allow('tool Grep src'), deny('tool Read src/secret/**')];
  expect(effectOf(rules, aFile('Grep', 'src'))).toBe('ask');
  expect(effectOf(rules, aFile('Grep', 'src/secret/a'))).toBe('deny');
  expect(effectOf(rules, aFile('Grep', 'src/other'))).toBe('allow');
});

test('an absolute rule matches paths outside the worktree', () => {
  expect(effectOf([allow('tool Read /usr/share/**')], aFile('Read', '/usr/share/a', '/usr/share/a'))).toBe('allow');
  expect(effectOf([deny('tool Read /etc/**')], aFile('Read', '../../../../etc/passwd', null))).toBe('deny');
});

test.each([
  ['network example.org', 'example.org', 'allow'],
  ['network example.org', 'EXAMPLE.org.', 'allow'],
  ['network example.org', 'example.org:443', 'allow'],
  ['network example.org', 'example.org:80', 'allow'],
  ['network example.org', 'example.org:22', 'ask'],
  ['network example.org:22', 'example.org:22', 'allow'],
  ['network example.org:22', 'example.org:443', 'ask'],
  ['network example.org:22', 'example.org', 'ask'],
  ['network example.org', 'www.example.org', 'ask'],
  ['network example.org', 'notexample.org', 'ask'],
  ['network example.org', 'example.org.evil.net', 'ask'],
  ['network *.example.org', 'a.b.example.org', 'allow'],
  ['network *.example.org', 'example.org', 'ask'],
  ['network *.example.org', 'evilexample.org', 'ask'],
  ['network *.example.org', '.example.org', 'ask'],
  ['network *.example.org', 'evil.net/.example.org', 'ask'],
  ['network *.example.org', 'user@a.example.org', 'ask'],
  ['network *.example.org', 'evil.net\0.example.org', 'ask'],
  ['network *.example.org', 'evil.net%00.example.org', 'ask'],
  ['network *.example.org', 'evil.net:443:a.example.org', 'ask'],
  ['network *.example.org', 'exämple.example.org', 'ask'],
  ['network 127.0.0.1', '127.0.0.1', 'allow'],
  ['network 127.0.0.1', '127.1', 'ask'],
  ['network 127.0.0.1', '2130706433', 'ask'],
  ['network [::1]:80', '[::1]:80', 'allow'],
  ['network [::1]:80', '[::ffff:127.0.0.1]:80', 'ask'],
  ['network example.org', 'example.org:99999', 'ask'],
  ['network example.org', '', 'ask'],
])('%s for %s: %s', (rule, host, effect) => {
  expect(effectOf([allow(rule)], aHost(host))).toBe(effect);
});

test.each([
  ['network example.org', 'example.org:8443'],
  ['network example.org', 'example.org'],
  ['network example.org:443', 'example.org'],
  ['network *.example.org', 'a.example.org:22'],
  ['network *', 'anything.net'],
  ['network *', 'no name at all'],
])('denying %s denies %s', (rule, host) => {
  expect(effectOf([allow('network example.org'), deny(rule)], aHost(host))).toBe('deny');
});

test('a tool without path or command is allowed by its name only', () => {
  const request = { kind: 'tool' as const, tool: 'mcp__forge__list', cwd: worktree, worktree };
  expect(effectOf([allow('tool mcp__forge__list')], request)).toBe('allow');
  expect(effectOf([allow('tool mcp__forge__*')], request)).toBe('allow');
  expect(effectOf([allow('tool mcp__forge__merge')], request)).toBe('ask');
  expect(effectOf([allow('tool mcp__forge__*'), deny('tool mcp__forge__list')], request)).toBe('deny');
  expect(effectOf([deny('tool Bash')], aCommand('ls'))).toBe('deny');
  expect(effectOf([allow('tool WebFetch')], aHost('example.org'))).toBe('ask');
});

test('a request with a part that no rule describes is never allowed, and still denied', () => {
  const request = { ...aCommand('npm test'), unclear: 'the field env' };
  expect(judgeRequest([allow('command npm test')], request)).toMatchObject({
    effect: 'ask',
    reason: 'it has the field env, which no rule allows',
  });
  expect(effectOf([deny('command npm')], request)).toBe('deny');
});

test('a rule that cannot be read allows nothing, and a deny rule leaves nothing allowed', () => {
  expect(effectOf([allow('nonsense'), allow('tool Bash')], aCommand('ls'))).toBe('ask');
  const judged = judgeRequest([allow('command ls'), deny('nonsense')], aCommand('ls'));
  expect(judged).toMatchObject({ effect: 'ask', reason: 'the deny rule “nonsense” cannot be read' });
});

test('the rules that decided are returned', () => {
  const [first, second, other] = [allow('command a'), allow('command b'), allow('command c')];
  expect(judgeRequest([first, second, other], aCommand('a && b && a'))).toEqual({
    effect: 'allow',
    rules: [first, second],
    reason: 'the rule “command a” and “command b” allows it',
  });
});
