import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { startModelServer } from '@pawl/testing/model-server/server';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { waitUntil } from '@pawl/testing/wait-until';
import { afterEach, expect, test } from 'vitest';
import { grantSession, key } from './support/grant.ts';

const program = join(import.meta.dirname, '..', '..', '..', 'dist', 'proxy.mjs');
const started: ChildProcess[] = [];
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
});

function start(words: string[]): ChildProcess {
  const child = spawn(process.execPath, [program, ...words], { stdio: ['ignore', 'pipe', 'ignore'] });
  started.push(child);
  return child;
}

const serve = (root: string, unusedMs = 60_000) =>
  start(['serve', join(root, 'proxy'), join(root, 'proxy.sock'), String(unusedMs)]);

/** The pid and port of the proxy that serves, other than an earlier one. */
function servedBy(root: string, before?: number): Promise<{ pid: number; port: number }> {
  return waitUntil(
    () => {
      const served = JSON.parse(readFileSync(join(root, 'proxy', 'proxy.json'), 'utf8')) as {
        pid: number;
        port: number;
      };
      return served.pid === before ? null : served;
    },
    { what: 'a proxy that serves' },
  );
}

const ended = (child: ChildProcess) =>
  waitUntil(() => child.exitCode !== null || child.signalCode !== null, { what: 'the end of a proxy' });

function ask(port: number, token: string): Promise<number> {
  const body = JSON.stringify({ model: 'm', max_tokens: 1, messages: [{ role: 'user', content: 'Hello' }] });
  const headers = { 'x-api-key': token };
  return fetch(`http://127.0.0.1:${port}/v1/messages`, { method: 'POST', headers, body }).then(({ status }) => status);
}

test('one proxy serves a home; after a kill -9 the next one has its port, its counts and no leftovers', async () => {
  await using place = await temporaryDirectory();
  await using model = await startModelServer({ validKeys: [key], fallback: 'text' });
  const { token, lines } = await grantSession(place.path, { baseUrl: model.url });
  const first = serve(place.path);
  const served = await servedBy(place.path);
  expect(await ask(served.port, token)).toBe(200);
  await waitUntil(async () => (await lines()).length === 1, { what: 'usage' });
  first.kill('SIGKILL');
  await ended(first);
  serve(place.path);
  const next = await servedBy(place.path, served.pid);
  expect(next.port).toBe(served.port);
  expect(await ask(next.port, token)).toBe(200);
  await waitUntil(async () => (await lines()).length === 2, { what: 'more usage' });
  expect((await lines()).map((line) => (line.type === 'usage' ? line.calls : 0))).toEqual([1, 2]);
});

test('a second proxy leaves, a damaged lock is no obstacle, and SIGTERM ends it', async () => {
  await using place = await temporaryDirectory();
  await grantSession(place.path, {});
  await writeFile(
    join(place.path, 'proxy', 'proxy.lock'),
    'no database at all, but long enough to be read as one'.repeat(20),
  );
  const first = serve(place.path);
  const served = await servedBy(place.path);
  const second = serve(place.path);
  await ended(second);
  expect(second.exitCode).toBe(0);
  expect((await servedBy(place.path)).pid).toBe(served.pid);
  first.kill('SIGTERM');
  await ended(first);
  expect(first.exitCode).toBe(0);
});

test('it stays while a session has a grant, and leaves when none has, or its directory is gone', async () => {
  await using place = await temporaryDirectory();
  const { file } = await grantSession(place.path, {});
  const first = serve(place.path, 100);
  const { pid } = await servedBy(place.path);
  expect(first.exitCode).toBeNull();
  await rm(file);
  await ended(first);
  const second = serve(place.path, 60_000);
  await servedBy(place.path, pid);
  await rm(join(place.path, 'proxy'), { recursive: true });
  await ended(second);
});

/** A port that was free a moment ago. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

test('forward opens a port to the socket, runs a command and gives its exit code', async () => {
  await using place = await temporaryDirectory();
  await using model = await startModelServer({ validKeys: [key], fallback: 'text' });
  const { token } = await grantSession(place.path, { baseUrl: model.url });
  serve(place.path);
  await servedBy(place.path);
  const port = await freePort();
  const script = `
    const answer = await fetch('http://127.0.0.1:${port}/v1/models', { headers: { 'x-api-key': process.argv[1] } });
    console.log(answer.status);
    process.exit(7);`;
  const words = [
    'forward',
    String(port),
    join(place.path, 'proxy.sock'),
    '--',
    process.execPath,
    '--input-type=module',
    '-e',
    script,
    token,
  ];
  const forward = start(words);
  let output = '';
  forward.stdout?.on('data', (piece) => (output += String(piece)));
  await ended(forward);
  expect([output, forward.exitCode]).toEqual(['200\n', 7]);
  expect(existsSync(join(place.path, 'proxy.sock'))).toBe(true);
});
