import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { quotePath, runInUserRepository, runToDiscover } from '../../src/command/command.ts';
import { isHeldLock } from '../../src/command/git-failure.ts';
import { gitEnvironment } from '../../src/command/hardening.ts';
import { openRepository } from '../../src/repository/repository.ts';
import { git, makeRepository, refusal, temporaryDirectory } from '../fixture.ts';

test("drops the caller's git variables and everything that could prompt", () => {
  const environment = gitEnvironment({
    PATH: '/bin',
    GIT_DIR: '/evil',
    GIT_SSH_COMMAND: 'evil',
    GIT_CONFIG_COUNT: '1',
    GIT_TRACE: '/tmp/x',
    LD_PRELOAD: 'evil.so',
    SSH_ASKPASS: 'evil',
    PAGER: 'evil',
    EDITOR: 'evil',
  });
  expect(JSON.stringify(environment)).not.toContain('evil');
  expect(Object.keys(environment)).not.toContain('GIT_TRACE');
  expect(environment).toMatchObject({ PATH: '/bin', LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0' });
});

test('ignores GIT_DIR and the like', async () => {
  const root = makeRepository(join(temporaryDirectory(), 'project'));
  for (const [name, value] of [
    ['GIT_DIR', '/nonexistent'],
    ['GIT_CONFIG_COUNT', 'broken'],
  ] as const) {
    process.env[name] = value;
    onTestFinished(() => {
      delete process.env[name];
    });
  }
  expect(await openRepository(root)).toMatchObject({ root });
});

test('names the failed command, how it failed, and what to do', async () => {
  const root = makeRepository(join(temporaryDirectory(), 'project'));
  const failing = runInUserRepository(join(root, '.git'), ['rev-list', '--count', 'nothing', '--']);
  await expect(failing).rejects.toMatchObject({
    code: 'git_failed',
    details: { command: 'git rev-list', exitCode: 128, stderr: "fatal: bad revision 'nothing'" },
  });
  expect(await refusal(failing)).toMatch(
    /^git_failed: git rev-list failed with exit code 128: fatal: bad revision .* → \S/,
  );
});

test('drops control characters from what git says', async () => {
  const root = makeRepository(join(temporaryDirectory(), 'project'));
  const failing = runInUserRepository(join(root, '.git'), ['rev-list', '--count', 'x\u001b]0;title\u0007', '--']);
  const said = await refusal(failing);
  // oxlint-disable-next-line no-control-regex
  expect(said).not.toMatch(/[\u0000-\u001f]/);
});

test("refuses commands that could run filters on the user's repository", () => {
  for (const args of [['status'], ['diff'], ['checkout', 'main'], ['worktree', 'add', '/tmp/x']]) {
    expect(() => runInUserRepository('/nonexistent', args)).toThrow(/must not/);
  }
});

test('keeps only the beginning of an oversized output, on request', async () => {
  const root = makeRepository(join(temporaryDirectory(), 'project'));
  const args = ['for-each-ref', '--format=%(refname)'];
  const cut = await runInUserRepository(join(root, '.git'), args, { maxBytes: 5, mayTruncate: true });
  expect(cut).toMatchObject({ truncated: true, stdout: 'refs/' });
  expect(await refusal(runInUserRepository(join(root, '.git'), args, { maxBytes: 5 }))).toMatch(
    /^git_failed: .* too much/,
  );
});

test('says that git is missing', async () => {
  const directory = temporaryDirectory();
  const path = process.env['PATH'];
  process.env['PATH'] = directory;
  onTestFinished(() => {
    process.env['PATH'] = path;
  });
  expect(await refusal(runToDiscover(directory, ['rev-parse']))).toMatch(/^unavailable: .* → Install git/);
  expect(await refusal(runToDiscover(join(directory, 'gone'), ['rev-parse']))).toMatch(/^not_found: /);
});

test('quotes a path so that git reads it back, whatever it contains', async () => {
  const home = temporaryDirectory();
  const odd = makeRepository(join(home, String.raw`a:b"c\d é`));
  const other = makeRepository(join(home, 'other'), { 'only-here': 'unique\n' });
  const blob = git(odd, 'rev-parse', 'HEAD:src/a.ts').trim();
  const { execFileSync } = await import('node:child_process');
  const env = { ...process.env, GIT_ALTERNATE_OBJECT_DIRECTORIES: quotePath(join(odd, '.git/objects')) };
  expect(execFileSync('git', ['cat-file', 'blob', blob], { cwd: other, env, encoding: 'utf8' })).toBe('a\n');
  expect(existsSync(join(other, '.git/objects', blob.slice(0, 2), blob.slice(2)))).toBe(false);
});

test.each([
  "fatal: Unable to create '/r/.git/packed-refs.lock': File exists.",
  'error: could not lock config file .git/config: File exists',
  'fatal: failed to read .git/worktrees/x/commondir: Success',
])('recognises a held lock: %s', (stderr) => expect(isHeldLock(stderr)).toBe(true));

test('recognises other failures', () => {
  expect(isHeldLock("fatal: a branch named 'x' already exists")).toBe(false);
});
