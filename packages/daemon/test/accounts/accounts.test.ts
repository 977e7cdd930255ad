import { defaultAccounts } from '@pawl/daemon/accounts/account-view';
import { insertAccount, updateAccount } from '@pawl/store/projects/accounts';
import { endSession } from '@pawl/store/sessions/sessions';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { everyUse, fakePreset, key, openAccounts, openSession, testDirectory, token, writeFiles } from './fixture.ts';

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

describe('an account', () => {
  test('with a key: the secret is in a private file, and in neither the row, the response nor the event', async () => {
    const fixture = await openAccounts();
    const before = process.umask(0);
    const { account, created } = await fixture.accounts
      .add({ provider: 'fake', kind: 'api-key', secret: key, baseUrl: 'http://127.0.0.1:9/v1', email: 'a@b.example' })
      .finally(() => process.umask(before));
    expect({ account, created }).toMatchObject({
      created: true,
      account: {
        name: 'fake-1',
        fingerprint: 'wxyz',
        baseUrl: 'http://127.0.0.1:9/v1',
        credential: { state: 'valid' },
      },
    });
    const place = join(fixture.home.accounts, account.id);
    expect([fixture.home.accounts, place, join(place, 'directory')].map(modeOf)).toEqual(['700', '700', '700']);
    expect(modeOf(join(place, 'secret.json'))).toBe('600');
    expect(readFileSync(join(place, 'secret.json'), 'utf8')).toBe(`{"env":{"FAKE_API_KEY":"${key}"}}\n`);
    expect(readFileSync(join(place, 'directory', 'nested', 'server.json'), 'utf8')).toBe(
      '{"url":"http://127.0.0.1:9/v1","env":"FAKE_API_KEY"}',
    );
    expect(JSON.stringify([await fixture.row(account.id), await fixture.events(), account])).not.toContain(key);
    expect(await fixture.events()).toEqual([
      { type: 'account.added', data: { account: 'fake-1', provider: 'fake', kind: 'api-key' } },
    ]);
  });

  test('with a setup token has the login file of its CLI, and the variable that the CLI reads [S3-55]', async () => {
    const fixture = await openAccounts();
    const { account } = await fixture.accounts.add({
      provider: 'fake',
      name: 'plan',
      kind: 'token',
      secret: token,
      email: 'mail@example.com',
    });
    const directory = join(fixture.home.accounts, account.id, 'directory');
    const login = readFileSync(join(directory, '.credentials.json'), 'utf8');
    expect(JSON.parse(login)).toEqual({ claudeAiOauth: { accessToken: token } });
    expect(JSON.parse(readFileSync(join(directory, '.claude.json'), 'utf8'))).toEqual({ hasCompletedOnboarding: true });
    expect(modeOf(join(directory, '.credentials.json'))).toBe('600');
    expect(account).toMatchObject({ kind: 'token', email: 'mail@example.com', credential: { state: 'valid' } });
    const use = await fixture.accounts.sessionUse(await fixture.row(account.id), fixture.preset, null);
    expect(use.env).toEqual({ FAKE_OAUTH_TOKEN: token, CLAUDE_CONFIG_DIR: directory });
    expect(use.secrets).toEqual([token]);
  });

  test('added again creates no second one, and under another name is refused', async () => {
    const { accounts } = await openAccounts();
    const body = { provider: 'fake', kind: 'api-key', secret: key } as const;
    const [first, second] = await Promise.all([accounts.add(body), accounts.add(body)]);
    expect([first.created, second.created, second.account.id]).toEqual([true, false, first.account.id]);
    await expect(accounts.add({ ...body, name: 'other' })).rejects.toMatchObject({ code: 'conflict' });
    await expect(accounts.add({ ...body, name: 'fake-1', secret: `${key}2` })).rejects.toMatchObject({
      code: 'conflict',
    });
    expect((await accounts.add({ ...body, baseUrl: 'https://other.example' })).account.name).toBe('fake-2');
    expect((await accounts.list()).map(({ name }) => name)).toEqual(['fake-1', 'fake-2']);
  });

  test.each([
    [{ provider: 'nobody', kind: 'api-key', secret: key }, 'unknown_provider'],
    [{ provider: 'plain', kind: 'api-key', secret: key }, 'invalid_input'],
    [{ provider: 'keyless', kind: 'api-key', secret: key }, 'invalid_input'],
    [{ provider: 'keyless', kind: 'directory', from: '/' }, 'invalid_input'],
    [{ provider: 'keyless', kind: 'token', secret: key, baseUrl: 'https://a.example' }, 'invalid_input'],
    [{ provider: 'fake', kind: 'api-key' }, 'usage'],
    [{ provider: 'fake', kind: 'directory' }, 'usage'],
  ] as const)('%j is refused, and leaves nothing', async (body, code) => {
    const presets = [
      fakePreset(),
      fakePreset('plain', { account: null }),
      fakePreset('keyless', { account: { ...everyUse, key: null, directory: null, baseUrl: null, files: {} } }),
    ];
    const fixture = await openAccounts({ presets });
    await expect(fixture.accounts.add(body)).rejects.toMatchObject({ code });
    expect(readdirSync(fixture.home.accounts)).toEqual([]);
    expect(await fixture.events()).toEqual([]);
  });

  test('that is removed keeps its row, loses its secret, and frees its name; one in use is not removed', async () => {
    const fixture = await openAccounts();
    const body = { provider: 'fake', name: 'work', kind: 'api-key', secret: key } as const;
    const { account } = await fixture.accounts.add(body);
    await fixture.accounts.use('work');
    const sessionId = await openSession(fixture.store, account.id);
    await expect(fixture.accounts.remove('work')).rejects.toMatchObject({ code: 'busy' });
    expect(existsSync(join(fixture.home.accounts, account.id, 'secret.json'))).toBe(true);
    await fixture.store.write((tx) => endSession(tx, sessionId, { exitCode: 0, endReason: 'exited' }));
    await fixture.accounts.remove('work');
    expect(await fixture.row(account.id)).toMatchObject({ removedAt: fixture.clock.now });
    expect(readdirSync(fixture.home.accounts)).toEqual([]);
    expect(await fixture.accounts.list()).toEqual([]);
    expect(await fixture.accounts.chosen('fake')).toBeNull();
    expect((await fixture.events()).map(({ type }) => type)).toEqual([
      'account.added',
      'account.selected',
      'account.removed',
    ]);
    for (const each of ['work', account.id]) {
      await expect(fixture.accounts.remove(each)).rejects.toMatchObject({ code: 'not_found' });
    }
    expect((await fixture.accounts.add(body)).created).toBe(true);
  });

  test('is chosen by name or id, or as its provider’s default; never for another provider', async () => {
    const fixture = await openAccounts({ presets: [fakePreset(), fakePreset('other')] });
    const { account } = await fixture.accounts.add({ provider: 'fake', kind: 'api-key', secret: key });
    expect(await fixture.accounts.chosen('fake')).toBeNull();
    expect(await fixture.accounts.chosen('fake', 'fake-1')).toEqual(await fixture.row(account.id));
    expect(await fixture.accounts.chosen('fake', account.id)).toEqual(await fixture.row(account.id));
    await expect(fixture.accounts.chosen('other', 'fake-1')).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(fixture.accounts.chosen('fake', 'nobody')).rejects.toMatchObject({ code: 'not_found' });
    expect(await fixture.accounts.use('fake-1')).toMatchObject({ isDefault: true });
    expect((await fixture.accounts.chosen('fake'))?.id).toBe(account.id);
    expect(await fixture.accounts.chosen('other')).toBeNull();
    await fixture.store.write((tx) => defaultAccounts.set(tx, { provider: 'fake', accountId: 'no account' }));
    expect(await fixture.accounts.chosen('fake')).toBeNull();
  });

  test('clears its limit and its rejection only on request', async () => {
    const fixture = await openAccounts();
    const { account } = await fixture.accounts.add({ provider: 'fake', kind: 'api-key', secret: key });
    const until = fixture.clock.now + 1_000;
    const patch = { exhaustedUntil: until, strikes: 3, invalidReason: 'expired' };
    await fixture.store.write((tx) => updateAccount(tx, account.id, patch));
    expect(await fixture.accounts.use('fake-1')).toMatchObject({ exhaustedUntil: until, invalidReason: 'expired' });
    fixture.clock.now = until;
    expect(await fixture.accounts.list()).toMatchObject([{ exhaustedUntil: null, invalidReason: 'expired' }]);
    expect(await fixture.accounts.use('fake-1', { clear: true })).toMatchObject({ invalidReason: null });
    expect(await fixture.row(account.id)).toMatchObject({ exhaustedUntil: null, strikes: 0, invalidReason: null });
  });
});

describe('a session with an account', () => {
  test('gets the secret, the server and the directory; existing files are kept', async () => {
    const fixture = await openAccounts();
    const body = { provider: 'fake', kind: 'api-key', secret: key, baseUrl: 'http://127.0.0.1:9' } as const;
    const { account } = await fixture.accounts.add(body);
    const directory = join(fixture.home.accounts, account.id, 'directory');
    writeFiles(directory, { 'settings.json': 'changed by the CLI' });
    rmSync(join(directory, 'nested'), { recursive: true });
    const row = await fixture.row(account.id);
    expect(await fixture.accounts.sessionUse(row, fixture.preset, 'model-1')).toEqual({
      env: { FAKE_API_KEY: key, FAKE_BASE_URL: 'http://127.0.0.1:9', CLAUDE_CONFIG_DIR: directory },
      secrets: [key],
      baseUrl: 'http://127.0.0.1:9',
    });
    expect(readFileSync(join(directory, 'settings.json'), 'utf8')).toBe('changed by the CLI');
    expect(existsSync(join(directory, 'nested', 'server.json'))).toBe(true);
    await expect(fixture.accounts.sessionUse(row, fakePreset('other'), null)).rejects.toMatchObject({
      code: 'conflict',
    });
  });

  test('a preset’s file is written only when all of its placeholders have a value, and never outside', async () => {
    const files = {
      'a.toml': 'model = "{model}"',
      '../out.json': 'x',
      '/abs.json': 'x',
      'b.json': '{"u":"{baseUrl}"}',
    };
    const preset = fakePreset('fake', { account: { ...everyUse, files } });
    const fixture = await openAccounts({ presets: [preset] });
    const { account } = await fixture.accounts.add({ provider: 'fake', kind: 'api-key', secret: key });
    const place = join(fixture.home.accounts, account.id);
    expect(readdirSync(join(place, 'directory'))).toEqual([]);
    await fixture.accounts.sessionUse(await fixture.row(account.id), preset, 'a"b\\c');
    expect(readFileSync(join(place, 'directory', 'a.toml'), 'utf8')).toBe('model = "a\\"b\\\\c"');
    expect(readdirSync(place).toSorted()).toEqual(['directory', 'secret.json']);
  });

  test('the secrets of a copied login are known too, whatever the CLI calls them', async () => {
    const fixture = await openAccounts();
    const from = writeFiles(join(fixture.path, 'config'), {
      '.credentials.json': JSON.stringify({ claudeAiOauth: { accessToken: token, refreshToken: `${token}-refresh` } }),
      'auth.json': JSON.stringify({ OPENAI_API_KEY: key, tokens: { id_token: `${key}-id`, type: 'token' } }),
      'oauth_creds.json': 'not json',
      'history.json': JSON.stringify({ key: 'no login file, no secret' }),
    });
    await fixture.accounts.add({ provider: 'fake', kind: 'directory', from });
    expect(fixture.accounts.secrets().toSorted()).toEqual([token, `${token}-refresh`, key, `${key}-id`].toSorted());
  });
});

test('a secret is masked even after its file was opened to others', async () => {
  const fixture = await openAccounts();
  const { account } = await fixture.accounts.add({ provider: 'fake', kind: 'api-key', secret: key });
  chmodSync(join(fixture.home.accounts, account.id, 'secret.json'), 0o644);
  expect(fixture.accounts.secrets()).toEqual([key]);
  const json = JSON.stringify({ type: 'api', key: `${key}-inner` });
  await fixture.accounts.add({ provider: 'fake', kind: 'token', secret: json });
  expect(fixture.accounts.secrets()).toContain(`${key}-inner`);
});

describe('the variables of a shell', () => {
  test('are found again by value, take no part in rotation, and use the CLI’s own directory', async () => {
    const fixture = await openAccounts({ presets: [fakePreset(), fakePreset('other')] });
    const capture = (variables: Record<string, string>, provider = fixture.preset) =>
      fixture.accounts.captureShell(provider, variables);
    expect(await capture({})).toBeNull();
    expect(await capture({ FAKE_API_KEY: '', UNRELATED: 'x' })).toBeNull();
    const variables = { FAKE_API_KEY: key, FAKE_OAUTH_TOKEN: token, FAKE_BASE_URL: 'http://x', UNRELATED: 'secret' };
    const [first, again] = await Promise.all([capture(variables), capture({ ...variables })]);
    expect(first).toMatchObject({ kind: 'shell', name: expect.stringMatching(/^shell-[0-9a-f]{8}$/) as string });
    expect(again?.id).toBe(first?.id);
    const different = await capture({ FAKE_API_KEY: key });
    const otherProvider = await capture(variables, fakePreset('other'));
    expect(new Set([first?.id, different?.id, otherProvider?.id]).size).toBe(3);
    const use = await fixture.accounts.sessionUse(first as never, fixture.preset, null);
    expect(use).toEqual({
      env: { FAKE_API_KEY: key, FAKE_OAUTH_TOKEN: token },
      secrets: [key, token],
      baseUrl: null,
    });
    const quiet = {
      ...fixture.preset,
      account: fixture.preset.account && { ...fixture.preset.account, ownDirectory: true },
    };
    const own = await fixture.accounts.sessionUse(first as never, quiet, null);
    expect(own.env['CLAUDE_CONFIG_DIR']).toBe(join(fixture.home.accounts, first?.id ?? '', 'directory'));
    await expect(fixture.accounts.use(first?.name ?? '')).rejects.toMatchObject({ code: 'conflict' });
    expect(modeOf(join(fixture.home.accounts, 'key'))).toBe('600');
  });
});

describe('at start', () => {
  test('a directory that others can enter is refused', async () => {
    const path = await testDirectory();
    mkdirSync(join(path, 'home', 'accounts'), { recursive: true, mode: 0o700 });
    chmodSync(join(path, 'home'), 0o700);
    chmodSync(join(path, 'home', 'accounts'), 0o750);
    await expect(openAccounts({ path })).rejects.toMatchObject({ code: 'forbidden' });
  });

  test.each([
    [
      'a secret that others can read',
      (place: string) => chmodSync(join(place, 'secret.json'), 0o644),
      /read by others/,
    ],
    ['a directory that others can enter', (place: string) => chmodSync(place, 0o755), /read by others/],
    ['files that are gone', (place: string) => rmSync(place, { recursive: true }), /is not there/],
    ['a damaged secret', (place: string) => writeFiles(place, { 'secret.json': `{"${key}` }), /damaged/],
  ])('an account with %s cannot be used, which is reported once', async (_, harm, reason) => {
    const path = await testDirectory();
    const first = await openAccounts({ path });
    const { account } = await first.accounts.add({ provider: 'fake', kind: 'api-key', secret: key });
    harm(join(first.home.accounts, account.id));
    const fixture = await openAccounts({ path });
    expect((await fixture.row(account.id)).invalidReason).toMatch(reason);
    expect(JSON.stringify(await fixture.accounts.list())).not.toContain(key);
    await expect(
      fixture.accounts.sessionUse(await fixture.row(account.id), fixture.preset, null),
    ).rejects.toMatchObject({
      code: 'conflict',
    });
    await fixture.accounts.settle();
    expect((await fixture.events()).map(({ type }) => type)).toEqual(['account.added', 'account.invalid']);
  });

  test('files without an account are removed; names that are not account ids stay', async () => {
    const path = await testDirectory();
    const first = await openAccounts({ path });
    const { account } = await first.accounts.add({ provider: 'fake', kind: 'api-key', secret: key });
    const stray = 'A'.repeat(22);
    writeFiles(first.home.accounts, { [`${stray}/secret.json`]: '{}', '.new-x/secret.json': '{}', 'notes/a': 'mine' });
    await openAccounts({ path });
    expect(readdirSync(first.home.accounts).toSorted()).toEqual([account.id, 'notes'].toSorted());
  });

  test('a removed account’s leftover secret is deleted', async () => {
    const path = await testDirectory();
    const first = await openAccounts({ path });
    const { account } = await first.accounts.add({ provider: 'fake', kind: 'api-key', secret: key });
    const row = await first.row(account.id);
    await first.accounts.remove(account.id);
    await first.store.write((tx) => insertAccount(tx, { ...row, id: 'B'.repeat(22), removedAt: 1, name: 'gone' }));
    writeFiles(first.home.accounts, { [`${'B'.repeat(22)}/secret.json`]: '{}' });
    await openAccounts({ path });
    expect(readdirSync(first.home.accounts)).toEqual([]);
  });
});

test('no secret is stored in a home outside its accounts [7.23]', async () => {
  const fixture = await openAccounts();
  await fixture.accounts.add({ provider: 'fake', kind: 'api-key', secret: key });
  await fixture.accounts.add({ provider: 'fake', kind: 'token', secret: token });
  await fixture.accounts.captureShell(fixture.preset, { FAKE_API_KEY: `${key}-shell` });
  await fixture.accounts.use('fake-1');
  await fixture.accounts.remove('fake-2');
  await fixture.accounts.add({ provider: 'fake', kind: 'token', secret: token, name: 'fake-1' }).catch(() => null);
  await fixture.store.close();
  const hits = execFileSync('grep', ['-rlaF', '-e', key, '-e', token, fixture.home.root], { encoding: 'utf8' });
  for (const path of hits.trim().split('\n')) expect(path.startsWith(`${fixture.home.accounts}/`)).toBe(true);
  expect(hits).not.toContain(token);
});
