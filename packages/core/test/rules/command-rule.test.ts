import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { aCommand, allow, deny, effectOf, worktree } from './fixture.ts';

const rules = [
  'npm test',
  'npm run *',
  'git status',
  'git log --oneline',
  'cat src/*',
  "sh -c 'npm test'",
  'make',
  'find *',
].map((words) => allow(`command ${words}`));

test.each([
  'npm test',
  '  npm   test ',
  `"npm" 'test'`,
  'npm run build',
  'npm run build lint',
  'git status',
  'npm test && git status',
  'npm test && npm run build && git status',
  'cat src/a.ts',
  'cat src/a/b.ts',
  `sh -c 'npm test'`,
  'make',
  'find src',
])('%s is allowed', (command) => {
  expect(effectOf(rules, aCommand(command))).toBe('allow');
});

test.each([
  ['another word', 'npm test --watch'],
  ['fewer words', 'npm'],
  ['no word for the wildcard', 'npm run'],
  ['a longer name', 'npm tester'],
  ['nothing', ''],
  ['only spaces', '   '],
  ['substitution', 'npm test $(id)'],
  ['substitution in quotes', 'npm run "$(id)"'],
  ['substitution as a name', 'npm run $(id)'],
  ['backticks', 'npm run `id`'],
  ['backticks in quotes', 'npm run "`id`"'],
  ['process substitution', 'npm run <(id)'],
  ['process substitution out', 'npm run >(id)'],
  ['line break', 'npm test\nid'],
  ['carriage return', 'npm test\rid'],
  ['quoted line break', "npm run 'a\nb'"],
  ['escaped line break', 'npm te\\\nst'],
  ['semicolon', 'npm test; id'],
  ['semicolon without a space', 'npm test;id'],
  ['background', 'npm test & id'],
  ['background at the end', 'npm test &'],
  ['pipe', 'npm test | sh'],
  ['pipe with errors', 'npm test |& sh'],
  ['or', 'npm test || id'],
  ['and of something else', 'npm test && id'],
  ['and of nothing', 'npm test &&'],
  ['nothing before and', '&& npm test'],
  ['redirection', 'npm test > ~/.profile'],
  ['appending', 'npm test >> out'],
  ['reading', 'npm test < in'],
  ['here document', 'npm test << EOF'],
  ['here string', 'npm test <<< x'],
  ['errors to a file', 'npm test 2> out'],
  ['errors joined', 'npm test 2>&1'],
  ['clobber', 'npm test >| out'],
  ['variable', 'npm run $x'],
  ['variable in quotes', 'npm run "$x"'],
  ['braced variable', 'npm run ${x}'],
  ['arithmetic', 'npm run $((1+1))'],
  ['ANSI quotes', "npm run $'\\x69d'"],
  ['assignment', 'A=b npm test'],
  ['assignment of PATH', 'PATH=/tmp npm test'],
  ['quoted assignment', '"A=b" npm test'],
  ['appending assignment', 'A+=b npm test'],
  ['subshell', '(npm test)'],
  ['group', '{ npm test; }'],
  ['negation', '! npm test'],
  ['reserved word', 'time npm test'],
  ['condition', 'if npm test; then id; fi'],
  ['glob', 'npm run *'],
  ['question mark', 'npm run ?'],
  ['bracket', 'npm run [a]'],
  ['braces', 'npm run {a,b}'],
  ['home', 'cat src/~ ~/x'],
  ['tilde for a wildcard', 'npm run ~'],
  ['equals expansion', 'npm run =id'],
  ['comment', 'npm test # safe'],
  ['unfinished quote', "npm run 'a"],
  ['unfinished double quote', 'npm run "a'],
  ['backslash at the end', 'npm run a\\'],
  ['backslash before a quote', "npm run 'a\\' b"],
  ['NUL', 'npm run a\0b'],
  ['escape', 'npm run \x1b[2Ka'],
  ['bell', 'npm run a\x07'],
  ['vertical tab', 'npm\x0btest'],
  ['no-break space', 'npm\u00a0test'],
  ['no-break space in quotes', "npm run 'a\u00a0b'"],
  ['ideographic space', 'npm run a\u3000b'],
  ['zero-width space', 'npm run a\u200bb'],
  ['direction override', 'npm run \u202eb'],
  ['line separator', 'npm run a\u2028id'],
  ['next line', 'npm run a\u0085id'],
  ['lone surrogate', 'npm run a\ud800'],
  ['Hangul filler', 'npm run \u3164'],
  ['look-alike letter', 'nрm test'],
  ['upper case', 'NPM test'],
  ['path of the program', '/tmp/npm test'],
  ['program of the directory', './npm test'],
  ['option for a wildcard', 'npm run --script-shell=/tmp/x build'],
  ['option after a wildcard', 'npm run build --prefix /tmp'],
  ['the end of options', 'npm run -- build'],
  ['assignment for a wildcard', 'npm run a=b'],
  ['absolute path for a wildcard', 'npm run /tmp/x'],
  ['address for a wildcard', 'npm run http://example.org'],
  ['empty word for a wildcard', "npm run ''"],
  ['directory above', 'cat src/../../../etc/passwd'],
  ['directory above at the end', 'cat src/..'],
  ['git with a setting', 'git -c core.pager=id status'],
  ['git with a directory', 'git -C /tmp/x status'],
  ['git with its own programs', 'git --exec-path=/tmp status'],
  ['git with a repository', 'git --git-dir=/tmp/x status'],
  ['git with an output file', 'git log --oneline --output=/tmp/x'],
  ['eval', 'eval npm test'],
  ['exec', 'exec npm test'],
  ['env', 'env npm test'],
  ['command', 'command npm test'],
  ['xargs', 'xargs npm test'],
  ['nice', 'nice npm test'],
  ['sudo', 'sudo npm test'],
  ['another script of sh', "sh -c 'npm test; id'"],
  ['sh with an option', "sh -e -c 'npm test'"],
  ['make with a shell', 'make SHELL=/tmp/x'],
  ['find with exec', "find src -exec id ';'"],
  ['find with an escaped semicolon', 'find src -exec id \\;'],
  ['find with delete', 'find src -delete'],
  ['changing the directory first', 'cd /tmp && npm test'],
])('%s is not allowed: %j', (_, command) => {
  expect(effectOf(rules, aCommand(command))).toBe('ask');
});

test('a command outside the worktree is not allowed', () => {
  for (const cwd of ['/tmp', `${worktree}-other`, '/', `${worktree}/../x`, null, 'src']) {
    expect(effectOf(rules, aCommand('npm test', cwd))).toBe('ask');
  }
  expect(effectOf(rules, aCommand('npm test', `${worktree}/packages/core`))).toBe('allow');
  expect(effectOf(rules, { ...aCommand('npm test'), worktree: null })).toBe('ask');
});

test('a command with too many words or characters is not allowed', () => {
  expect(effectOf(rules, aCommand(`npm run ${'a '.repeat(600)}`))).toBe('ask');
  expect(effectOf(rules, aCommand(`npm run ${'a'.repeat(20_000)}`))).toBe('ask');
});

test('a literal star of a rule is no wildcard', () => {
  const literal = [allow(`command grep '*' src`)];
  expect(effectOf(literal, aCommand(`grep '*' src`))).toBe('allow');
  expect(effectOf(literal, aCommand('grep a src'))).toBe('ask');
  expect(effectOf(literal, aCommand('grep * src'))).toBe('ask');
});

test('a wildcard inside a word stands for any characters of it', () => {
  const scripts = [allow('command npm run test:*:unit')];
  expect(effectOf(scripts, aCommand('npm run test:core:unit'))).toBe('allow');
  expect(effectOf(scripts, aCommand('npm run test:unit'))).toBe('ask');
  expect(effectOf(scripts, aCommand('npm run test:core:unit more'))).toBe('ask');
});

test.each([
  ['rm', 'rm x'],
  ['rm', 'rm -rf x'],
  ['rm', '/bin/rm x'],
  ['rm', '../../bin/rm x'],
  ['rm', 'RM x'],
  ['rm', `r''m x`],
  ['rm', 'r\\m x'],
  ['rm', 'r$@m x'],
  ['rm', 'A=b rm x'],
  ['rm', 'npm test; rm x'],
  ['rm', 'npm test && rm x'],
  ['rm', 'npm test || rm x'],
  ['rm', 'npm test | rm x'],
  ['rm', 'npm test & rm x'],
  ['rm', 'npm test\nrm x'],
  ['rm', 'echo $(rm x)'],
  ['rm', 'echo "$(rm x)"'],
  ['rm', 'echo `rm x`'],
  ['rm', 'cat <(rm x)'],
  ['rm', '(rm x)'],
  ['rm', '{ rm x; }'],
  ['rm', '! rm x'],
  ['rm', 'if true; then rm x; fi'],
  ['rm', 'for a in b; do rm x; done'],
  ['rm', '>out rm x'],
  ['rm', '2>/dev/null rm x'],
  ['rm', 'sudo rm x'],
  ['rm', 'env A=b rm x'],
  ['rm', 'sudo -u root nice -n 5 rm x'],
  ['rm', 'xargs rm'],
  ['rm', 'ls | xargs -n1 rm -f'],
  ['rm', 'find . -name x -exec rm {} \\;'],
  ['rm', "sh -c 'rm x'"],
  ['rm', "bash -lc 'cd a && rm x'"],
  ['rm', `bash -c "bash -c 'rm x'"`],
  ['rm', "eval 'rm x'"],
  ['rm', "git rebase --exec 'rm x' main"],
  ['rm', 'busybox rm x'],
  ['rm', 'echo "unfinished; rm x'],
  ['rm', "echo 'a; rm x"],
  ['rm *', 'rm'],
  ['git push', 'git push'],
  ['git push', 'git push origin main'],
  ['git push', 'git -C x push'],
  ['git push', 'git -c a=b push --force'],
  ['git push *', 'git push origin'],
  ['git push --force*', 'git push origin --force-with-lease'],
  ['npm publish', 'cd a && npm --access public publish'],
])('denying %s denies %j, although everything is allowed', (words, command) => {
  const permissive = ['rm x', 'npm test', 'git push', 'echo *', 'ls'].map((each) => allow(`command ${each}`));
  expect(effectOf([...permissive, deny(`command ${words}`)], aCommand(command))).toBe('deny');
});

test.each([
  ['rm', 'npm run format'],
  ['rm', 'echo rm'],
  ['rm', 'grep rm file'],
  ['git push', 'git pull'],
  ['git push', 'git log'],
])('denying %s does not deny %s', (words, command) => {
  expect(effectOf([deny(`command ${words}`)], aCommand(command))).toBe('ask');
});

test('an allowed command with any shell syntax in it is not allowed [rules]', () => {
  const signs = [';', '&', '|', '||', '\n', '\r', '`', '$(', '>', '<', '$x', '#', '\0', '(', ')', '*', '~', '\u2028'];
  fc.assert(
    fc.property(fc.constantFrom(...signs), fc.string({ maxLength: 20 }), fc.nat(8), (sign, rest, at) => {
      fc.pre(!/['"\\]/.test(rest));
      const command = `${'npm test'.slice(0, at)}${sign}${rest}${'npm test'.slice(at)}`;
      expect(effectOf(rules, aCommand(command))).toBe('ask');
    }),
    { numRuns: 2_000 },
  );
});

test('a deny rule beats an allow rule, in any order [rules]', () => {
  expect(effectOf([deny('command npm test'), allow('command npm test')], aCommand('npm test'))).toBe('deny');
  expect(effectOf([allow('command npm test'), deny('command npm')], aCommand('npm test'))).toBe('deny');
});

test('a hostile command is judged quickly by many rules', () => {
  const many = Array.from({ length: 500 }, (_, index) => deny(`command rm a b c${index}`));
  const started = performance.now();
  expect(effectOf(many, aCommand(`sudo ${'rm '.repeat(5_000)}`))).toBe('ask');
  expect(effectOf(many, aCommand('$('.repeat(8_000)))).toBe('ask');
  expect(effectOf(many, aCommand(`sh -c ${`'sh -c "`.repeat(2_000)}`))).toBe('ask');
  expect(performance.now() - started).toBeLessThan(5_000);
});
