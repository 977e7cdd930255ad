import { copyConfigDirectory } from '@pawl/daemon/accounts/copy-directory';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { everyUse, fakePreset, key, openAccounts, testDirectory, writeFiles } from './fixture.ts';

let from: string;
let to: string;
beforeEach(async () => {
  const path = await testDirectory();
  from = writeFiles(join(path, 'config'), {
    '.credentials.json': '{"claudeAiOauth":{"accessToken":"x"}}',
    'plugins/a b/one.jsonl': 'line\n',
    'hooks/run.sh': '#!/bin/sh\n',
  });
  to = join(path, 'copy');
});
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

test('a config directory is copied, readable by its owner only', async () => {
  chmodSync(join(from, 'hooks', 'run.sh'), 0o755);
  await copyConfigDirectory(from, to);
  expect(readFileSync(join(to, 'plugins', 'a b', 'one.jsonl'), 'utf8')).toBe('line\n');
  expect([to, join(to, 'plugins')].map(modeOf)).toEqual(['700', '700']);
  expect(modeOf(join(to, '.credentials.json'))).toBe('600');
  expect(modeOf(join(to, 'hooks', 'run.sh'))).toBe('700');
  expect(readdirSync(from).toSorted()).toEqual(['.credentials.json', 'hooks', 'plugins']);
});

test('its own path may be a link, since a person named it', async () => {
  symlinkSync(from, `${from}-link`);
  await copyConfigDirectory(`${from}-link`, to);
  expect(readdirSync(to)).toHaveLength(3);
});

test('links, conversations and caches are not copied', async () => {
  const before = readdirSync(from);
  for (const [name, target] of [
    ['a', '/etc/passwd'],
    ['b', '/etc'],
    ['c', '/nowhere'],
  ] as const)
    symlinkSync(target, join(from, name));
  writeFiles(from, { 'debug/latest.txt': 'x', 'projects/p/one.jsonl': '{}' });
  await copyConfigDirectory(from, to);
  expect(readdirSync(to)).toEqual(before);
});

describe('refuses', () => {
  test('a FIFO', async () => {
    execFileSync('mkfifo', [join(from, 'fifo')]);
    await expect(copyConfigDirectory(from, to)).rejects.toMatchObject({ code: 'invalid_input' });
  });

  test('a huge file, even a sparse one, before reading much of it', async () => {
    writeFileSync(join(from, 'huge'), '');
    truncateSync(join(from, 'huge'), 10 * 1024 * 1024 * 1024);
    await expect(copyConfigDirectory(from, to)).rejects.toMatchObject({ code: 'too_large' });
    expect(statSync(join(to, 'huge')).size).toBeLessThanOrEqual(64 * 1024 * 1024);
  });

  test('endlessly nested directories', async () => {
    mkdirSync(join(from, ...Array.from({ length: 40 }, () => 'd')), { recursive: true });
    await expect(copyConfigDirectory(from, to)).rejects.toMatchObject({ code: 'too_large' });
  });

  test('a directory that contains its own copy, a file, and a missing path', async () => {
    await expect(copyConfigDirectory(from, join(from, 'copy'))).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(copyConfigDirectory('/', to)).rejects.toMatchObject({ code: 'invalid_input' });
    const file = join(from, '.credentials.json');
    await expect(copyConfigDirectory(file, to)).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(copyConfigDirectory(join(from, 'nothing'), to)).rejects.toMatchObject({ code: 'not_found' });
  });
});

test('a CLI’s subdirectory is copied into place, and its secrets are found', async () => {
  const conversations = ['.gemini/tmp/*/chats/session-*-{short}.jsonl'];
  const use = { ...everyUse, files: { '.gemini/settings.json': '{}' }, conversations };
  const fixture = await openAccounts({ presets: [fakePreset('fake', { account: use })] });
  const gemini = writeFiles(join(fixture.path, '.gemini'), { 'oauth_creds.json': `{"access_token":"${key}"}` });
  const { account } = await fixture.accounts.add({ provider: 'fake', kind: 'directory', from: gemini });
  expect(readdirSync(join(fixture.home.accounts, account.id, 'directory', '.gemini'))).toEqual(['oauth_creds.json']);
  expect(fixture.accounts.secrets()).toEqual([key]);
});

test('a hostile directory creates no account, and leaves nothing behind', async () => {
  const fixture = await openAccounts();
  writeFiles(from, { 'auth.json': `{"token":"${key}"}` });
  execFileSync('mkfifo', [join(from, 'zz')]);
  const add = () => fixture.accounts.add({ provider: 'fake', kind: 'directory', from });
  await expect(add()).rejects.toMatchObject({ code: 'invalid_input' });
  expect(readdirSync(fixture.home.accounts)).toEqual([]);
  expect(await fixture.accounts.list()).toEqual([]);
});
