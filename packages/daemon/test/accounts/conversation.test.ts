import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Account } from '@pawl/schema/record';
import type { AccountsFixture } from './fixture.ts';
import { everyUse, fakePreset, key, openAccounts, writeFiles } from './fixture.ts';

const session = '5f0c2b7e-1111-4222-8333-944455556666';
let fixture: AccountsFixture;
let first: Account;
let second: Account;
let directories: [string, string];

beforeEach(async () => {
  fixture = await openAccounts();
  const added = [];
  for (const name of ['one', 'two']) {
    added.push(await fixture.accounts.add({ provider: 'fake', name, kind: 'api-key', secret: `${key}-${name}` }));
  }
  const [a, b] = added.map(({ account }) => account.id) as [string, string];
  [first, second] = [await fixture.row(a), await fixture.row(b)];
  directories = [join(fixture.home.accounts, a, 'directory'), join(fixture.home.accounts, b, 'directory')];
});

function move(from: Account | null, to: Account, fields = {}, preset = fixture.preset) {
  return fixture.accounts.moveConversation({ from, to, preset, providerSessionId: session, ...fields });
}

describe('a conversation [S3-37]', () => {
  test('is copied with all its files, and no others', async () => {
    writeFiles(directories[0], {
      [`projects/-srv-shop/${session}.jsonl`]: 'said\n',
      [`projects/-srv-shop/${session}/tool/1.txt`]: 'result',
      'projects/-srv-shop/other.jsonl': 'other',
      '.credentials.json': 'secret',
    });
    expect(await move(first, second)).toBe('moved');
    const target = join(directories[1], 'projects', '-srv-shop');
    expect(readFileSync(join(target, `${session}.jsonl`), 'utf8')).toBe('said\n');
    expect(readFileSync(join(target, session, 'tool', '1.txt'), 'utf8')).toBe('result');
    expect(readdirSync(target).toSorted()).toEqual([session, `${session}.jsonl`]);
    expect(existsSync(join(directories[1], '.credentials.json'))).toBe(false);
    expect(statSync(join(target, `${session}.jsonl`)).mode & 0o777).toBe(0o600);
  });

  test('that continued elsewhere and returns replaces the old copy', async () => {
    const path = `projects/p/${session}.jsonl`;
    writeFiles(directories[0], { [path]: 'one\n' });
    await move(first, second);
    writeFileSync(join(directories[1], path), 'one\ntwo\n');
    expect(await move(second, first)).toBe('moved');
    expect(readFileSync(join(directories[0], path), 'utf8')).toBe('one\ntwo\n');
  });

  test('in the CLI’s own directory is copied, and that directory stays unchanged', async () => {
    const own = writeFiles(join(fixture.path, 'person', '.claude'), { [`projects/p/${session}.jsonl`]: 'own' });
    const before = execFileSync('find', [own, '-printf', '%p %T@ %s\n'], { encoding: 'utf8' });
    expect(await move(null, first)).toBe('moved');
    const shell = await fixture.accounts.captureShell(fixture.preset, { FAKE_API_KEY: key });
    expect(await move(shell, second)).toBe('moved');
    expect(readFileSync(join(directories[1], `projects/p/${session}.jsonl`), 'utf8')).toBe('own');
    expect(await move(null, shell as Account)).toBe('moved');
    expect(await move(first, shell as Account)).toBe('impossible');
    expect(execFileSync('find', [own, '-printf', '%p %T@ %s\n'], { encoding: 'utf8' })).toBe(before);
  });

  test('in a directory named by the preset or the agent’s shell is found there', async () => {
    const named = writeFiles(join(fixture.path, 'named'), { [`projects/p/${session}.jsonl`]: 'named' });
    expect(await move(null, first, { environment: { CLAUDE_CONFIG_DIR: named } })).toBe('moved');
    expect(await move(null, second, {}, fakePreset('fake', { env: { CLAUDE_CONFIG_DIR: named } }))).toBe('moved');
    expect(readFileSync(join(directories[1], `projects/p/${session}.jsonl`), 'utf8')).toBe('named');
  });

  test('is found at any depth, and by an id prefix', async () => {
    const conversations = ['sessions/**/rollout-*-{session}.jsonl', '.gemini/tmp/*/chats/session-*-{short}.jsonl'];
    const preset = fakePreset('fake', { account: { ...everyUse, conversations } });
    writeFiles(directories[0], {
      [`sessions/2026/11/15/rollout-2026-11-15-${session}.jsonl`]: 'deep',
      [`sessions/rollout-1-${session}.jsonl`]: 'flat',
      '.gemini/tmp/a/chats/session-x-5f0c2b7e.jsonl': 'short',
      '.gemini/tmp/a/chats/session-x-5f0c2b7f.jsonl': 'another',
    });
    expect(await move(first, second, {}, preset)).toBe('moved');
    const copied = execFileSync('find', ['-name', '*.jsonl'], { cwd: directories[1], encoding: 'utf8' });
    expect(copied.trim().split('\n').toSorted()).toEqual([
      './.gemini/tmp/a/chats/session-x-5f0c2b7e.jsonl',
      `./sessions/2026/11/15/rollout-2026-11-15-${session}.jsonl`,
      `./sessions/rollout-1-${session}.jsonl`,
    ]);
  });

  test('that is missing, or that the CLI cannot move, is not copied', async () => {
    expect(await move(first, second)).toBe('impossible');
    expect(await move(null, second)).toBe('impossible');
    expect(await move(first, first)).toBe('moved');
    writeFiles(directories[0], { [`projects/p/${session}.jsonl`]: 'x' });
    const fixed = fakePreset('fake', { account: { ...everyUse, conversations: [] } });
    expect(await move(first, second, {}, fixed)).toBe('impossible');
    const homeless = fakePreset('fake', { account: { ...everyUse, directory: null } });
    expect(await move(first, second, {}, homeless), 'it is where all accounts find it').toBe('moved');
  });

  test.each([['../../secret'], ['..'], ['*'], ['a/b'], ['-x'], [''], ['a..b'], ['x'.repeat(300)], ['a\0b']])(
    'cannot be named %j',
    async (providerSessionId) => {
      writeFiles(directories[0], { 'projects/p/x.jsonl': 'x', 'secret.jsonl': 'x' });
      expect(await move(first, second, { providerSessionId })).toBe('impossible');
      expect(existsSync(join(directories[1], 'projects'))).toBe(false);
    },
  );

  test('is never read or written through a link', async () => {
    mkdirSync(join(directories[0], 'projects', 'p'), { recursive: true });
    symlinkSync('/etc/passwd', join(directories[0], 'projects', 'p', `${session}.jsonl`));
    expect(await move(first, second)).toBe('impossible');
    writeFiles(directories[0], { [`projects/q/${session}.jsonl`]: 'x' });
    const outside = join(fixture.path, 'outside');
    mkdirSync(outside);
    symlinkSync(outside, join(directories[1], 'projects'));
    expect(await move(first, second)).toBe('impossible');
    expect(readdirSync(outside)).toEqual([]);
  });
});
