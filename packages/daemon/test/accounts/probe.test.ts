import { probeAccount } from '@pawl/daemon/accounts/probe';
import type { ProviderPreset } from '@pawl/core/port/provider';
import { strayProcesses } from '@pawl/host/session/stray';
import { updateAccount } from '@pawl/store/projects/accounts';
import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { fakePreset, key, openAccounts, writeFiles } from './fixture.ts';

const path = process.env['PATH'] ?? '';
const result = (fields: object) =>
  JSON.stringify({ type: 'result', subtype: 'success', is_error: false, result: 'ok', session_id: 's', ...fields });

/** A CLI made of a few lines of shell. */
const cli = (script: string, fields: Partial<ProviderPreset> = {}) =>
  fakePreset('fake', { command: ['sh', '-c', script, 'cli'], ...fields });

async function tested(preset: ProviderPreset) {
  const fixture = await openAccounts({ presets: [preset] });
  await fixture.accounts.add({ provider: 'fake', kind: 'api-key', secret: key, baseUrl: 'http://127.0.0.1:9' });
  const answer = await fixture.accounts.test('fake-1', path);
  expect(readdirSync(fixture.home.accounts).filter((name) => name.startsWith('.'))).toEqual([]);
  return answer;
}

describe('a test of an account', () => {
  test('gives the CLI its credentials and a prompt, and returns its answer', async () => {
    const script = `read -r line; echo '${result({ result: '' })}' | sed "s#\\"result\\":\\"\\"#\\"result\\":\\"$line $FAKE_BASE_URL $(basename "$CLAUDE_CONFIG_DIR") $PAWL_AGENT_TOKEN$PAWL_HOME\\"#"; test "$FAKE_API_KEY" = ${key}`;
    expect(await tested(cli(script))).toMatchObject({
      ok: true,
      text: 'Say ok. http://127.0.0.1:9 directory',
      account: { name: 'fake-1' },
    });
  });

  test('hides the secret that the CLI prints', async () => {
    const answer = await tested(
      cli(
        `echo '${result({ result: '', is_error: true })}' | sed "s#\\"result\\":\\"\\"#\\"result\\":\\"bad key $FAKE_API_KEY\\"#"; exit 1`,
      ),
    );
    expect(answer).toMatchObject({ ok: false, text: `bad key ${'*'.repeat(key.length)}` });
    expect(JSON.stringify(answer)).not.toContain(key);
  });

  test('that reaches a limit reports when it ends', async () => {
    const info = { status: 'rejected', resetsAt: 1_794_721_264, rateLimitType: 'five_hour' };
    const limit = JSON.stringify({ type: 'rate_limit_event', rate_limit_info: info, session_id: 's' });
    const script = `echo '${limit}'; echo '${result({ is_error: true, result: 'limit' })}'; exit 1`;
    expect(await tested(cli(script))).toMatchObject({ ok: false, limitedUntil: 1_794_721_264_000 });
  });

  test('without a result of the CLI is judged by its exit code and stderr', async () => {
    expect(await tested(cli(`echo "no such model ${key}" >&2; exit 3`))).toMatchObject({
      ok: false,
      text: `no such model ${'*'.repeat(key.length)}`,
    });
    expect(await tested(cli('exit 4'))).toMatchObject({ ok: false, text: 'the CLI ended with 4' });
    expect(await tested(fakePreset('fake', { command: ['no-such-program-here'] }))).toMatchObject({ ok: false });
  });

  test('passes the prompt as an argument or as a JSON line, as the CLI requires', async () => {
    const word: Partial<ProviderPreset> = {
      promptMode: 'argument',
      promptArguments: ['-p', '{prompt}'],
      outputFormat: 'text',
    };
    expect(await tested(cli('echo "$2"', word))).toMatchObject({ ok: true, text: 'Say ok.' });
    const line = { promptMode: 'stream-json', outputFormat: 'text' } as const;
    expect((await tested(cli('cat', line))).text).toContain('"content":"Say ok."');
  });
});

test('an answer marks an account usable; a limit marks it exhausted', async () => {
  const info = { status: 'rejected', resetsAt: 1_794_721_264 };
  const limit = JSON.stringify({ type: 'rate_limit_event', rate_limit_info: info, session_id: 's' });
  const script = `if [ -e "$CLAUDE_CONFIG_DIR/limited" ]; then echo '${limit}'; exit 1; fi; echo '${result({})}'`;
  const fixture = await openAccounts({ presets: [cli(script)] });
  const { account } = await fixture.accounts.add({ provider: 'fake', kind: 'api-key', secret: key });
  await fixture.store.write((tx) => updateAccount(tx, account.id, { invalidReason: 'refused', strikes: 2 }));
  expect((await fixture.accounts.test('fake-1', path)).account).toMatchObject({
    invalidReason: null,
    exhaustedUntil: null,
  });
  writeFiles(fixture.home.accounts, { [`${account.id}/directory/limited`]: '' });
  expect((await fixture.accounts.test('fake-1', path)).account.exhaustedUntil).toBe(1_794_721_264_000);
});

test('a CLI that never answers is ended with all its processes', async () => {
  const preset = cli('trap "" TERM; (trap "" TERM; while :; do sleep 1; done) & while :; do sleep 1; done');
  const fixture = await openAccounts({ presets: [preset] });
  const { account } = await fixture.accounts.add({ provider: 'fake', kind: 'api-key', secret: key });
  const use = await fixture.accounts.sessionUse(await fixture.row(account.id), preset, null);
  const probe = probeAccount({
    home: fixture.home,
    environment: {},
    path,
    preset,
    use,
    secrets: [key],
    timeoutMs: 300,
  });
  const name = await seenProbe(fixture.home.accounts);
  await expect(probe).rejects.toMatchObject({ code: 'timeout' });
  expect(strayProcesses(name.slice('.probe-'.length))).toEqual([]);
  expect(readdirSync(fixture.home.accounts)).toEqual([account.id]);
});

test('a test that was running when the daemon died is gone after the next start', async () => {
  const fixture = await openAccounts();
  writeFiles(fixture.home.accounts, { '.probe-AAAAAAAAAAAAAAAAAAAAAA/out': `leaked ${key}` });
  await fixture.accounts.settle();
  expect(readdirSync(fixture.home.accounts)).toEqual([]);
});

/** The name of an account test's directory, as soon as it exists. */
async function seenProbe(root: string): Promise<string> {
  for (;;) {
    const name = readdirSync(root).find((each) => each.startsWith('.probe-'));
    if (name !== undefined) return name;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
