import { defaultChoices } from '@pawl/daemon/platform/platform';
import { startModelServer } from '@pawl/testing/model-server/server';
import { waitUntil } from '@pawl/testing/wait-until';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'vitest';
import { startTestDaemon } from '../support/daemon.ts';
import { sandboxTest } from './machine.ts';

const key = 'sk-proxied-0123456789-ABCDEFGH';
const { sandbox, network } = defaultChoices;

/** A service on the loopback that greets. */
async function greeter() {
  const server = createServer((client) => client.on('error', () => undefined).end('hello'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, [Symbol.dispose]: () => void server.close() };
}

/** A script that tries to connect, and prints which services greeted, and what else worked. */
const tries = (closed: number, open: number) => `
const net = require('node:net');
const attempts = { closed: ['127.0.0.1', ${closed}], open: ['127.0.0.1', ${open}], named: ['localhost', ${open}],
  address: ['1.1.1.1', 443], six: ['2606:4700:4700::1111', 443] };
const tried = Object.entries(attempts).map(([name, [host, port]]) => new Promise((done) => {
  const socket = net.connect(port, host, () => name === 'address' || name === 'six' ? done(name) : undefined);
  socket.on('data', (text) => done(name + ' ' + text));
  socket.on('close', () => done(''));
  socket.on('error', () => done(''));
}));
(async () => {
  const reached = (await Promise.all(tried)).filter(Boolean);
  const resolved = await require('node:dns').promises.lookup('example.com').then(() => ['dns'], () => []);
  const { SCRIPTED_BASE_URL: server, SCRIPTED_API_KEY: token } = process.env;
  const model = await fetch(server + '/v1/models', { headers: { 'x-api-key': token } }).then(({ status }) => status, String);
  console.log(JSON.stringify({ reached, resolved, model }));
  process.exit(0);
})();`;

sandboxTest(
  'by default an agent has no way out but its model, and services that a rule names [sandbox network]',
  async () => {
    await using model = await startModelServer({ validKeys: [key] });
    using closed = await greeter();
    using open = await greeter();
    await using daemon = await startTestDaemon({ choices: { sandbox, network } });
    const account = { provider: 'scripted', name: 'lab', kind: 'api-key', secret: key, baseUrl: model.url } as const;
    await daemon.client.addAccount(account);
    await daemon.client.addRule({ effect: 'allow', match: `network localhost:${open.port}` });
    const steps = [
      { write: { path: 'try.cjs', content: tries(closed.port, open.port) } },
      { shell: `'${process.execPath}' try.cjs >answer 2>&1` },
      'complete',
    ];
    const agent = await daemon.work(steps, { account: 'lab' });
    const ended = await daemon.ended(agent.id);
    expect(ended.run).toMatchObject({ status: 'completed' });
    const path = join(ended.worktree ?? '', 'answer');
    const answer: unknown = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : null;
    expect(answer).toEqual({ reached: ['open hello', 'named hello'], resolved: [], model: 200 });
  },
);

sandboxTest('the engine reaches the server of a named model from its sandbox [sandbox network]', async () => {
  await using model = await startModelServer({ fallback: 'text' });
  const local = { model: 'compatible/scripted-1', account: null, base_url: `${model.url}/v1` };
  const models = { local: { ...local, context_tokens: null, usd_per_million: null } };
  await using daemon = await startTestDaemon({ choices: { sandbox, network, models } });
  const agent = await daemon.work(undefined, { provider: 'pawl', model: 'local' });
  await waitUntil(() => model.requests.length > 0, { what: 'a call to the named server' });
  await daemon.client.stopAgent(agent.id);
  expect((await daemon.client.inspectAgent(agent.id)).sessions).toMatchObject([{ sandbox: 'on' }]);
});
