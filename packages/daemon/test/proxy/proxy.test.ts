import { startModelServer } from '@pawl/testing/model-server/server';
import { waitUntil } from '@pawl/testing/wait-until';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon } from '../support/daemon.ts';
import { outputHas } from '../support/output.ts';

const key = 'sk-proxied-0123456789-ABCDEFGH';
const caller = join(import.meta.dirname, '..', 'support', 'call-model.ts');
const calls = (count: number) => ({ shell: `'${process.execPath}' '${caller}' ${count}` });

async function proxiedDaemon(server: string): Promise<TestDaemon> {
  const daemon = await startTestDaemon({ choices: { proxy: true } });
  const account = { provider: 'scripted', name: 'lab', kind: 'api-key', secret: key, baseUrl: server } as const;
  await daemon.client.addAccount(account);
  return daemon;
}

/** Files below a directory with a text, except those of accounts. */
async function filesWith(root: string, text: string): Promise<string[]> {
  const found = await promisify(execFile)('grep', ['-rlaF', '--exclude-dir=accounts', '-e', text, root]).catch(
    () => null,
  );
  return found?.stdout.trim().split('\n') ?? [];
}

const grantsOf = ({ home }: TestDaemon) => readdirSync(join(home.proxy, 'sessions'));

test('a session calls its model without ever having the key, and its token ends with it [sandbox keys]', async () => {
  await using model = await startModelServer({ validKeys: [key], fallback: 'text' });
  await using daemon = await proxiedDaemon(model.url);
  const gate = join(daemon.home.root, 'go');
  const steps = [
    calls(2),
    { shell: 'echo "key: $SCRIPTED_API_KEY server: $SCRIPTED_BASE_URL"; env > env.txt' },
    { shell: `until [ -e '${gate}' ]; do sleep 0.02; done` },
    'complete',
  ];
  const agent = await daemon.work(steps, { account: 'lab' });
  await outputHas(daemon.client, agent.id, 'server: http');
  const { sessions } = await daemon.client.inspectAgent(agent.id);
  const pid = sessions[0]?.pid ?? 0;
  const environments = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        return [readFileSync(`/proc/${name}/environ`, 'utf8')];
      } catch {
        return [];
      }
    })
    .filter((text) => text.includes(`PAWL_SESSION=${sessions[0]?.id}`));
  expect(pid).toBeGreaterThan(1);
  expect(environments.length).toBeGreaterThan(0);
  expect(environments.filter((text) => text.includes(key))).toEqual([]);
  expect(grantsOf(daemon)).toEqual([`${sessions[0]?.id}.json`]);
  const { token = '', server = '' } =
    /key: (?<token>pawl-[\w-]+) server: (?<server>http:[\w.:/]+)/.exec(
      (await daemon.client.output(agent.id, { format: 'raw' })).chunks.map(({ content }) => content ?? '').join(''),
    )?.groups ?? {};
  const use = () => fetch(`${server}/v1/models`, { headers: { 'x-api-key': token } }).then(({ status }) => status);
  expect(await use()).toBe(200);
  // The provider itself does not know the token.
  expect((await fetch(`${model.url}/v1/models`, { headers: { 'x-api-key': token } })).status).toBe(401);
  writeFileSync(gate, '');
  const ended = await daemon.ended(agent.id);
  expect(ended.run?.status).toBe('completed');
  expect(ended.usage.inputTokens).toBeGreaterThan(0);
  expect(grantsOf(daemon)).toEqual([]);
  expect(await use()).toBe(401);
  expect(await filesWith(daemon.home.root, key)).toEqual([]);
});

test('a key of a shell stays outside, too, and inspect says why one does not', async () => {
  await using model = await startModelServer({ validKeys: [key], fallback: 'text' });
  await using daemon = await startTestDaemon({ choices: { proxy: true } });
  const shell = { SCRIPTED_API_KEY: key, SCRIPTED_BASE_URL: model.url };
  const steps = [calls(1), { shell: 'echo "key: $SCRIPTED_API_KEY server: $SCRIPTED_BASE_URL"' }, 'complete'];
  const agent = await daemon.work(steps, { environment: shell });
  expect((await daemon.ended(agent.id)).run?.status).toBe('completed');
  await outputHas(daemon.client, agent.id, 'key: pawl-');
  expect(model.requests.length).toBeGreaterThan(0);
  const host = new URL(model.url).host;
  const { key: place, agent: shown } = await daemon.client.inspectAgent(agent.id);
  expect(shown.account).toMatch(/^shell-/);
  expect(place).toEqual({ at: 'proxy', why: `calls to ${host} go through the proxy, which adds it` });
  expect(await filesWith(daemon.home.root, key)).toEqual([]);

  const unknown = await daemon.work(['complete'], { environment: { SCRIPTED_API_KEY: key } });
  await daemon.ended(unknown.id);
  expect((await daemon.client.inspectAgent(unknown.id)).key).toEqual({
    at: 'session',
    why: 'it is not known which server it calls',
  });
});

test('a token budget stops a CLI that reports none in mid-turn [sandbox keys]', async () => {
  await using model = await startModelServer({ validKeys: [key], fallback: 'text' });
  await using daemon = await proxiedDaemon(model.url);
  const agent = await daemon.work([calls(10_000), 'complete'], { account: 'lab', budget: { tokens: 1_000 } });
  expect(await daemon.ended(agent.id)).toMatchObject({
    activity: 'over_budget',
    run: { status: 'failed', cause: { reason: 'budget', of: 'agent' } },
  });
});

test('a limit is seen first-hand, although the CLI says nothing about it', async () => {
  await using model = await startModelServer({ fallback: 'limit-reset' });
  await using daemon = await proxiedDaemon(model.url);
  const agent = await daemon.work([calls(1), 'hang'], { account: 'lab' });
  await waitUntil(async () => (await daemon.client.listAccounts()).accounts[0]?.exhaustedUntil ?? null, {
    what: 'the account to be exhausted',
  });
  await daemon.client.stopAgent(agent.id);
});

test('a proxy that is killed is started again, and the session goes on', async () => {
  await using model = await startModelServer({ validKeys: [key], fallback: 'text' });
  await using daemon = await proxiedDaemon(model.url);
  const agent = await daemon.work([{ shell: `'${process.execPath}' '${caller}' 40 50` }, 'complete'], {
    account: 'lab',
  });
  const served = () => JSON.parse(readFileSync(join(daemon.home.proxy, 'proxy.json'), 'utf8')) as { pid: number };
  await waitUntil(() => model.requests.length > 2, { what: 'some calls' });
  const { pid } = served();
  process.kill(pid, 'SIGKILL');
  expect((await daemon.ended(agent.id)).run?.status).toBe('completed');
  expect(served().pid).not.toBe(pid);
  expect(model.requests.length).toBeGreaterThanOrEqual(40);
});

test('an account with another secret than an API key is used as it is', async () => {
  await using daemon = await startTestDaemon();
  await daemon.client.addAccount({ provider: 'scripted', name: 'login', kind: 'token', secret: key });
  const agent = await daemon.work([{ shell: 'echo "it has ${#SCRIPTED_TOKEN} characters"' }, 'complete'], {
    account: 'login',
  });
  await outputHas(daemon.client, agent.id, `it has ${key.length} characters`);
  await daemon.ended(agent.id);
  expect(existsSync(join(daemon.home.proxy, 'proxy.json'))).toBe(false);
});

test('with --no-proxy the sessions of an agent or an account have the key, and only a person may say so [sandbox keys]', async () => {
  await using model = await startModelServer({ validKeys: [key], fallback: 'text' });
  await using daemon = await proxiedDaemon(model.url);
  // The output is masked, so the script compares.
  const compare = { shell: `[ "$SCRIPTED_API_KEY" = '${key}' ] && echo yes >has-key || echo no >has-key` };
  const hasKey = async (id: string) => readFileSync(join((await daemon.ended(id)).worktree ?? '', 'has-key'), 'utf8');
  const kept = await daemon.work([compare, 'complete'], { account: 'lab' });
  const given = await daemon.work([compare, 'complete'], { account: 'lab', noProxy: true });
  expect([await hasKey(kept.id), await hasKey(given.id)]).toEqual(['no\n', 'yes\n']);
  expect((await daemon.client.inspectAgent(given.id)).key).toEqual({
    at: 'session',
    why: 'it was started with --no-proxy',
  });
  const { agent: child } = await daemon.client.fork(given.id, {}, randomUUID());
  expect((await daemon.client.inspectAgent(child.id)).key?.at).toBe('session');

  const other = { provider: 'scripted', kind: 'api-key', secret: `${key}-2`, baseUrl: model.url } as const;
  const { account } = await daemon.client.addAccount({ ...other, name: 'open', noProxy: true });
  expect(account.keyProxy).toBe('off');
  const open = await daemon.work(['complete'], { account: 'open' });
  await daemon.ended(open.id);
  expect((await daemon.client.inspectAgent(open.id)).key).toEqual({
    at: 'session',
    why: 'open was added with --no-proxy',
  });

  const forking = await daemon.work([{ shell: 'pawl fork --no-proxy --prompt x 2>refusal; true' }, 'complete']);
  const ended = await daemon.ended(forking.id);
  expect(readFileSync(join(ended.worktree ?? '', 'refusal'), 'utf8')).toContain('Only a person');
});
