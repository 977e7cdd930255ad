import { PawlError } from '@pawl/schema/error';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Client } from '../../src/client.ts';
import { homeClient } from '../../src/node/home-client.ts';
import type { Home } from '../../src/node/home.ts';
import { homeAt } from '../../src/node/home.ts';

type Served = { client: Client; home: Home; requests: IncomingMessage[]; closeConnections(): void } & AsyncDisposable;

/** A server on the socket of a home of its own, and a client for it. */
async function serve(listener: RequestListener): Promise<Served> {
  const directory = await temporaryDirectory('pawl-client');
  const home = homeAt(directory.path);
  writeFileSync(home.token, 'the-token\n');
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    listener(request, response);
  });
  await new Promise<void>((resolve) => server.listen(home.socket, resolve));
  return {
    client: homeClient(home),
    home,
    requests,
    closeConnections: () => server.closeAllConnections(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await directory[Symbol.asyncDispose]();
    },
  };
}

const answer = (status: number, body: string) => (_request: IncomingMessage, response: ServerResponse) =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(body);

/** What a call is refused with. */
async function refusal(call: Promise<unknown>): Promise<PawlError> {
  const error: unknown = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof PawlError) return error;
  throw new Error(`not a PawlError: ${String(error)}`);
}

beforeEach(() => void vi.stubEnv('PAWL_AGENT_TOKEN', ''));
afterEach(() => vi.unstubAllEnvs());

describe('requests', () => {
  test('a request has a host and the person’s token', async () => {
    await using served = await serve(answer(200, '{}'));
    await served.client.daemon();
    expect(served.requests[0]?.headers).toMatchObject({ host: 'localhost', authorization: 'Bearer the-token' });
  });

  test('a process of an agent sends the agent’s token', async () => {
    vi.stubEnv('PAWL_AGENT_TOKEN', 'own');
    await using served = await serve(answer(200, '{}'));
    await served.client.daemon();
    expect(served.requests[0]?.headers.authorization).toBe('Bearer own');
  });
});

describe('a missing daemon', () => {
  test('no token', async () => {
    await using directory = await temporaryDirectory('pawl-client');
    const error = await refusal(homeClient(homeAt(directory.path)).daemon());
    expect(error).toMatchObject({ code: 'daemon_unreachable', hint: expect.stringContaining('pawl up') });
  });

  test.each([
    ['no socket', () => {}],
    ['a file in its place', (home: Home) => writeFileSync(home.socket, '')],
  ])('%s', async (_name, prepare) => {
    await using directory = await temporaryDirectory('pawl-client');
    const home = homeAt(directory.path);
    writeFileSync(home.token, 'x');
    prepare(home);
    const error = await refusal(homeClient(home).daemon());
    expect(error).toMatchObject({ code: 'daemon_unreachable', hint: expect.stringContaining('pawl up') });
  });

  test('a displaced socket in a foreign directory gets no token', async () => {
    await using directory = await temporaryDirectory('pawl-client');
    mkdirSync(join(directory.path, 'real'));
    symlinkSync(join(directory.path, 'real'), join(directory.path, 'link'));
    const home = { ...homeAt(directory.path), socket: join(directory.path, 'link', 'pawl.sock') };
    writeFileSync(home.token, 'x');
    expect(await refusal(homeClient(home).daemon())).toMatchObject({ code: 'forbidden' });
  });
});

test('a request over a connection that the daemon has closed is repeated over a new one', async () => {
  await using served = await serve(answer(200, '{"lastSeq":1}'));
  await served.client.daemon();
  // The client learns of this only after it has sent the next request.
  served.closeConnections();
  expect(await served.client.daemon()).toEqual({ lastSeq: 1 });
  expect(served.requests).toHaveLength(2);
});

test('a request that the daemon drops is not repeated', async () => {
  await using served = await serve((request) => void request.socket.destroy());
  expect((await refusal(served.client.daemon())).code).toBe('daemon_unreachable');
  expect(served.requests).toHaveLength(1);
});
