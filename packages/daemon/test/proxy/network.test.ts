import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon } from '../support/daemon.ts';
import { outputHas } from '../support/output.ts';

/** A server on this machine that nobody has allowed. */
async function localServer() {
  const server = createServer((_, response) => response.end('reached')).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return { port: (server.address() as AddressInfo).port, [Symbol.dispose]: () => void server.close() };
}

/** Asks for a URL through a proxy, as curl does with these variables. */
async function statusThrough(proxy: URL, url: string): Promise<number> {
  const authorization = `Basic ${Buffer.from(`${proxy.username}:${proxy.password}`).toString('base64')}`;
  const headers = { 'proxy-authorization': authorization };
  const sent = request({ host: proxy.hostname, port: proxy.port, path: url, headers });
  sent.end();
  const answer = await new Promise<IncomingMessage>((resolve) => sent.once('response', resolve));
  answer.resume();
  return answer.statusCode ?? 0;
}

/** Starts an agent that stands by, and gives its proxy. */
async function standingBy(daemon: TestDaemon) {
  const agent = await daemon.work([{ shell: 'echo "through $HTTPS_PROXY"' }, { say: 'standing by' }, 'hang']);
  await outputHas(daemon.client, agent.id, 'standing by');
  const { chunks } = await daemon.client.output(agent.id, { format: 'raw' });
  const text = chunks.map(({ content }) => content ?? '').join('');
  return { agent, proxy: new URL(/through (http:\/\/session:pawl-[\w-]+@[\d.:]+)/.exec(text)?.[1] ?? '') };
}

test('a refused host is one request in the inbox, for this session, for the agent or always in the project [sandbox network]', async () => {
  using local = await localServer();
  using other = await localServer();
  await using daemon = await startTestDaemon({ choices: { network: 'listed' } });
  const cards = async () => (await daemon.client.inbox()).items.filter(({ kind }) => kind === 'permission');
  const rules = async () => (await daemon.client.listRules()).rules.map(({ scope, match }) => `${scope} ${match}`);
  const url = `http://127.0.0.1:${local.port}/`;
  const { agent, proxy } = await standingBy(daemon);
  for (let index = 0; index < 20; index++)
    await Promise.all(Array.from({ length: 50 }, () => statusThrough(proxy, url)));
  await waitUntil(async () => (await cards()).length > 0, { what: 'the request' });
  const [card, ...more] = await cards();
  expect(more).toEqual([]);
  expect(card?.questions[0]?.question).toContain(`Network: 127.0.0.1:${local.port}`);
  expect(card?.choices.map(({ option }) => option)).toEqual(['--allow', '--agent', '--always', '--deny "why"']);
  // It waits for nothing: the connection was refused.
  expect((await daemon.client.inspectAgent(agent.id)).agent.activity).not.toBe('waiting_for_approval');
  await daemon.client.replyAgent(card?.id ?? '', { allow: true }, randomUUID());
  await waitUntil(async () => (await statusThrough(proxy, url)) === 200, { what: 'the answer to apply' });
  expect(await rules()).toEqual([`session network 127.0.0.1:${local.port}`]);
  expect(await cards()).toEqual([]);

  // A request outlives its session, and then takes only answers that do, too.
  await statusThrough(proxy, `http://127.0.0.1:${other.port}/`);
  await waitUntil(async () => (await cards()).length > 0, { what: 'the second request' });
  await daemon.client.stopAgent(agent.id);
  const [kept] = await cards();
  expect(kept?.choices.map(({ option }) => option)).toEqual(['--agent', '--always', '--deny "why"']);
  const late = daemon.client.replyAgent(kept?.id ?? '', { allow: true }, randomUUID());
  await expect(late).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining('session') as string });
  await daemon.client.replyAgent(kept?.id ?? '', { allow: true, again: 'project' }, randomUUID());
  expect(await rules()).toContain(`project network 127.0.0.1:${other.port}`);
  const next = await standingBy(daemon);
  expect(await statusThrough(next.proxy, `http://127.0.0.1:${other.port}/`)).toBe(200);

  // A rule that denies a host answers for the person; a denial is not asked again.
  await daemon.client.addRule({ effect: 'deny', match: 'network denied.example' });
  await statusThrough(next.proxy, 'http://denied.example/');
  await statusThrough(next.proxy, url);
  await waitUntil(async () => (await cards()).length > 0, { what: 'the request of the second agent' });
  expect((await cards()).map(({ questions }) => questions[0]?.question)).toEqual([
    expect.stringContaining(`127.0.0.1:${local.port}`),
  ]);
  await daemon.client.replyAgent((await cards())[0]?.id ?? '', { allow: false }, randomUUID());
  expect(await cards()).toEqual([]);
});

test('with listed hosts, a session reaches what rules allow, as they are now, and refusals are events', async () => {
  using local = await localServer();
  await using daemon = await startTestDaemon({ choices: { network: 'listed' } });
  const agent = await daemon.work([
    { shell: 'echo "through $HTTPS_PROXY but $NO_PROXY"' },
    { say: 'standing by' },
    'hang',
  ]);
  await outputHas(daemon.client, agent.id, 'standing by');
  const { chunks } = await daemon.client.output(agent.id, { format: 'raw' });
  const text = chunks.map(({ content }) => content ?? '').join('');
  const proxy = new URL(
    /through (http:\/\/session:pawl-[\w-]+@[\d.:]+) but [\w.,:]*127\.0\.0\.1/.exec(text)?.[1] ?? '',
  );
  const url = `http://127.0.0.1:${local.port}/`;
  expect(await statusThrough(proxy, url)).toBe(403);
  expect(await statusThrough(proxy, url)).toBe(403);
  const refused = async () =>
    (await daemon.client.events({ agent: agent.id, limit: 1000 })).events.filter(
      ({ type }) => type === 'network.refused',
    );
  await waitUntil(async () => (await refused()).length > 0, { what: 'the refusal' });
  expect((await refused()).map(({ data }) => data)).toEqual([
    { host: '127.0.0.1', port: local.port, reason: 'it is not in the list of allowed hosts' },
  ]);
  const { rule } = await daemon.client.addRule({
    path: daemon.repository,
    effect: 'allow',
    match: `network 127.0.0.1:${local.port}`,
  });
  await waitUntil(async () => (await statusThrough(proxy, url)) === 200, { what: 'the rule to apply' });
  await daemon.client.revokeRule(rule.id);
  await waitUntil(async () => (await statusThrough(proxy, url)) === 403, { what: 'the rule to be gone' });
  await daemon.client.stopAgent(agent.id);
  expect(await statusThrough(proxy, url)).toBe(407);
});
