import { ensureValid, isExpired, readCredentials } from '@pawl/daemon/accounts/credentials';
import { chmodSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fakePreset, openAccounts, writeFiles } from './fixture.ts';

const login = (fields: object) => JSON.stringify({ claudeAiOauth: fields });
const now = 1_700_000_000_000;

describe('a login requires only the access token [S3-52]', () => {
  test.each([
    [login({ accessToken: 'a' }), { accessToken: 'a', refreshToken: null, expiresAt: null }],
    [
      login({ accessToken: 'a', refreshToken: null, expiresAt: null, scopes: [] }),
      { accessToken: 'a', refreshToken: null, expiresAt: null },
    ],
    [
      login({ accessToken: 'a', refreshToken: 'r', expiresAt: 5 }),
      { accessToken: 'a', refreshToken: 'r', expiresAt: 5 },
    ],
    [login({ refreshToken: 'r' }), null],
    [login({ accessToken: '' }), null],
    [login({ accessToken: 7 }), null],
    ['{"claudeAiOauth":null}', null],
    ['[]', null],
    ['{"claudeAiOauth":{"accessToken":', null],
    ['', null],
  ])('%s', (text, expected) => {
    expect(readCredentials(text)).toEqual(expected);
  });
});

test('a login without an expiry never expires [S3-53]', () => {
  expect(isExpired({ expiresAt: null }, Number.MAX_SAFE_INTEGER)).toBe(false);
  expect(isExpired({ expiresAt: now + 1 }, now)).toBe(false);
  expect(isExpired({ expiresAt: now }, now)).toBe(true);
});

test('an expired login is renewed by its CLI if possible, and invalid otherwise [S3-54]', () => {
  const credentials = { accessToken: 'a', refreshToken: 'r', expiresAt: now };
  expect(ensureValid({ ...credentials, expiresAt: null }, now)).toEqual({ state: 'valid', expiresAt: null });
  expect(ensureValid(credentials, now - 1)).toEqual({ state: 'valid', expiresAt: now });
  expect(ensureValid(credentials, now)).toEqual({ state: 'refreshable', expiresAt: now });
  expect(ensureValid({ ...credentials, refreshToken: null }, now)).toEqual({
    state: 'invalid',
    error: expect.stringContaining('expired') as string,
  });
});

test('an account whose login has expired is marked invalid at the next start [S3-54]', async () => {
  const fixture = await openAccounts();
  const text = login({ accessToken: 'a'.repeat(20), expiresAt: fixture.clock.now + 1_000 });
  const from = writeFiles(join(fixture.path, 'config'), { '.credentials.json': text });
  const { account } = await fixture.accounts.add({ provider: 'fake', kind: 'directory', from });
  expect(account.credential).toEqual({ state: 'valid', expiresAt: fixture.clock.now + 1_000 });
  fixture.clock.now += 1_000;
  await fixture.accounts.settle();
  expect(await fixture.row(account.id)).toMatchObject({ invalidReason: expect.stringContaining('expired') as string });
  expect((await fixture.events()).at(-1)).toMatchObject({ type: 'account.invalid', data: { account: 'fake-1' } });
});

test('an unreadable login is unknown or invalid, and its links are not followed', async () => {
  const fixture = await openAccounts({ presets: [fakePreset(), fakePreset('other', { account: null })] });
  const from = writeFiles(join(fixture.path, 'config'), { 'settings.json': '{}' });
  const { account } = await fixture.accounts.add({ provider: 'fake', kind: 'directory', from });
  const row = await fixture.row(account.id);
  const state = async () => (await fixture.accounts.credentialState(row)).state;
  const file = join(fixture.home.accounts, account.id, 'directory', '.credentials.json');
  expect(await state()).toBe('unknown');
  writeFiles(join(file, '..'), { '.credentials.json': 'x' });
  expect(await state()).toBe('invalid');
  rmSync(file);
  symlinkSync('/etc/passwd', file);
  expect(await state()).toBe('unknown');
  chmodSync(join(fixture.home.accounts, account.id), 0o755);
  expect(await state()).toBe('invalid');
});
