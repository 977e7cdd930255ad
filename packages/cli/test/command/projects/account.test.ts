import { resolve } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import {
  addAccount,
  listAccounts,
  removeAccount,
  testAccount,
  useAccount,
} from '../../../src/command/projects/account.ts';
import { runCli } from '../../run-cli.ts';
import { fakeDaemon, sendFailure, sendJson } from '../fake-daemon.ts';

const secret = 'sk-ant-0123456789-wxyz';
const now = 1_700_000_000_000;
const account = {
  id: 'A'.repeat(22),
  provider: 'claude',
  name: 'claude-1',
  kind: 'api-key',
  email: null as string | null,
  baseUrl: null as string | null,
  fingerprint: 'wxyz' as string | null,
  createdAt: 1,
  lastUsedAt: null as number | null,
  exhaustedUntil: null as number | null,
  invalidReason: null as string | null,
  isDefault: false,
  credential: { state: 'valid', expiresAt: null } as object,
};

describe('account add', () => {
  const add = async (options: object, json = false) => {
    const daemon = await fakeDaemon(({ response }) => sendJson(response, { account, created: true }), { json });
    const code = await addAccount(daemon.context, 'claude', options, async () => secret);
    return { daemon, code };
  };

  test.each([
    [{ keyStdin: true }, { kind: 'api-key', secret }],
    [
      { tokenStdin: true, email: 'a@b.example' },
      { kind: 'token', secret, email: 'a@b.example' },
    ],
    [
      { from: 'some/dir', name: 'work' },
      { kind: 'directory', from: resolve('some/dir'), name: 'work' },
    ],
    [
      { keyStdin: true, baseUrl: 'http://x' },
      { kind: 'api-key', secret, baseUrl: 'http://x' },
    ],
  ])('%j', async (options, body) => {
    const { daemon, code } = await add(options);
    await using _ = daemon;
    expect(code).toBe(0);
    expect(daemon.requests).toEqual(['POST /api/accounts']);
    expect(daemon.bodies).toEqual([{ provider: 'claude', ...body }]);
    expect(daemon.texts).toEqual(['added claude-1 for claude; new agents use it after: pawl account use claude-1']);
    expect(JSON.stringify([daemon.texts, daemon.said, daemon.printed])).not.toContain(secret);
  });

  test('--key-env takes it from the shell', async () => {
    vi.stubEnv('PAWL_TEST_KEY', secret);
    const { daemon } = await add({ keyEnv: 'PAWL_TEST_KEY' }).finally(() => vi.unstubAllEnvs());
    await using _ = daemon;
    expect(daemon.bodies).toEqual([{ provider: 'claude', kind: 'api-key', secret }]);
  });

  test('--token is accepted, with a warning, and not repeated [S3-55]', async () => {
    const { daemon } = await add({ token: secret, email: 'mail@example.com' });
    await using _ = daemon;
    expect(daemon.bodies).toEqual([{ provider: 'claude', kind: 'token', secret, email: 'mail@example.com' }]);
    expect(daemon.said.join()).toContain('--token-stdin');
    expect(JSON.stringify([daemon.texts, daemon.said])).not.toContain(secret);
  });

  test('a refusal does not repeat the secret', async () => {
    await using daemon = await fakeDaemon(({ response }) => sendFailure(response, 'invalid_input', 'a secret is …'));
    const env = { PAWL_HOME: daemon.context.home.root, PAWL_TEST_KEY: secret };
    const result = await runCli(['account', 'add', 'claude', '--key-env', 'PAWL_TEST_KEY', '--json'], env);
    expect(result.code).toBe(2);
    expect(result.stdout + result.stderr).not.toContain(secret);
  });
});

test('account ls', async () => {
  const accounts = [
    { ...account, isDefault: true, lastUsedAt: now - 65_000 },
    { ...account, name: 'b', exhaustedUntil: now + 3_600_000, email: 'a@b.example', fingerprint: null },
    { ...account, name: 'c', invalidReason: 'refused\u001B[2J', baseUrl: 'http://x' },
    { ...account, name: 'd', credential: { state: 'refreshable', expiresAt: 1 } },
    { ...account, name: 'e', credential: { state: 'unknown' } },
  ];
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, { accounts }), { json: false });
  expect(await listAccounts({ ...daemon.context, columns: 160 }, { provider: 'claude' }, now)).toBe(0);
  expect(daemon.requests).toEqual(['GET /api/accounts?provider=claude']);
  expect(daemon.texts[0]?.split('\n').map((line) => line.replaceAll(/ {2,}/g, '  '))).toEqual([
    'NAME  PROVIDER  KIND  SECRET  STATE  USED  FOR',
    'claude-1 *  claude  api-key  …wxyz  ok  1m05s ago  -',
    'b  claude  api-key  -  exhausted for 1h00m  never  a@b.example',
    'c  claude  api-key  …wxyz  invalid: refused  never  http://x',
    'd  claude  api-key  …wxyz  renewed at next use  never  -',
    'e  claude  api-key  …wxyz  unknown  never  -',
  ]);
});

test('account ls without any says how to add one', async () => {
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, { accounts: [] }), { json: false });
  await listAccounts(daemon.context, {});
  expect(daemon.texts).toEqual(['no accounts; add one with: pawl account add PROVIDER']);
});

test('account rm and use', async () => {
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, { account }), { json: false });
  expect(await removeAccount(daemon.context, 'a/b')).toBe(0);
  expect(await useAccount(daemon.context, 'claude-1', {})).toBe(0);
  expect(await useAccount(daemon.context, 'claude-1', { clear: true })).toBe(0);
  expect(daemon.requests).toEqual([
    'POST /api/accounts/a%2Fb/remove',
    'POST /api/accounts/claude-1/use',
    'POST /api/accounts/claude-1/use',
  ]);
  expect(daemon.bodies).toEqual([{}, {}, { clear: true }]);
  expect(daemon.texts).toEqual([
    'removed claude-1; its secret is deleted',
    'new claude agents use claude-1',
    'new claude agents use claude-1',
  ]);
  await expect(removeAccount(daemon.context, '..')).rejects.toMatchObject({ code: 'not_found' });
});

test.each([
  [true, 0, 'claude-1 works (1.5s): ok'],
  [false, 1, 'claude-1 does not work (1.5s): ok'],
])('account test, %j', async (ok, code, text) => {
  const answer = { account, ok, text: 'ok\u001B[2J', limitedUntil: null, tookMs: 1_500 };
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, answer), { json: false });
  expect(await testAccount(daemon.context, 'claude-1')).toBe(code);
  expect(daemon.texts).toEqual([text]);
  expect(daemon.said.join()).toContain('one small model call');
});
