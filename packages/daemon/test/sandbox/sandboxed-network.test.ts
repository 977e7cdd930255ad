import { defaultSandboxLimits } from '@pawl/schema/home-config';
import { startModelServer } from '@pawl/testing/model-server/server';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { startTestDaemon } from '../support/daemon.ts';
import { sandboxTest } from './machine.ts';

const key = 'sk-proxied-0123456789-ABCDEFGH';
const sandbox = { mode: 'required', readable: [], writable: [], limits: defaultSandboxLimits } as const;

/** A script that tries to connect, and prints what worked. */
const tries = (port: number) => `
const net = require('node:net');
const attempts = { loopback: ['127.0.0.1', ${port}], address: ['1.1.1.1', 443], six: ['2606:4700:4700::1111', 443] };
const tried = Object.entries(attempts).map(([name, [host, port]]) => new Promise((done) => {
  const socket = net.connect(port, host, () => done(name));
  socket.on('error', () => done(''));
  setTimeout(() => done(''), 3000).unref();
}));
(async () => {
  const reached = (await Promise.all(tried)).filter(Boolean);
  const resolved = await require('node:dns').promises.lookup('example.com').then(() => ['dns'], () => []);
  const { SCRIPTED_BASE_URL: server, SCRIPTED_API_KEY: token } = process.env;
  const model = await fetch(server + '/v1/models', { headers: { 'x-api-key': token } }).then(({ status }) => status, String);
  console.log(JSON.stringify({ reached, resolved, model }));
  process.exit(0);
})();`;

sandboxTest('a sandboxed agent with listed hosts has no way out but the proxy, which gives it its model', async () => {
  await using model = await startModelServer({ validKeys: [key] });
  await using daemon = await startTestDaemon({ choices: { sandbox, network: 'listed', proxy: true } });
  const account = { provider: 'scripted', name: 'lab', kind: 'api-key', secret: key, baseUrl: model.url } as const;
  await daemon.client.addAccount(account);
  const steps = [
    { write: { path: 'try.cjs', content: tries(model.port) } },
    { shell: `'${process.execPath}' try.cjs >answer 2>&1` },
    'complete',
  ];
  const agent = await daemon.work(steps, { account: 'lab' });
  const ended = await daemon.ended(agent.id);
  expect(ended.run).toMatchObject({ status: 'completed' });
  const path = join(ended.worktree ?? '', 'answer');
  const answer: unknown = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : null;
  expect(answer).toEqual({ reached: [], resolved: [], model: 200 });
});
