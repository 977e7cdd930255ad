import { waitUntil } from '@pawl/testing/wait-until';
import type { IncomingMessage } from 'node:http';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
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
