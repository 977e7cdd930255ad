import { PawlError } from '@pawl/schema/error';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { writeFileSync } from 'node:fs';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { readJson } from '../src/answer.ts';
import type { Client } from '../src/client.ts';
import { createClient } from '../src/client.ts';
import { fetchTransport } from '../src/fetch-transport.ts';
import { homeAt } from '../src/node/home.ts';
import { socketTransport } from '../src/node/socket-transport.ts';
import type { Transport } from '../src/transport.ts';
import { collect } from './collect.ts';

type Served = { client: Client; transport: Transport; requests: IncomingMessage[] } & AsyncDisposable;
type Way = 'a unix socket' | 'fetch';

/** A server, and a client that reaches it in the given way. */
async function serveBy(way: Way, listener: RequestListener): Promise<Served> {
  const directory = await temporaryDirectory('pawl-client');
  const home = homeAt(directory.path);
  writeFileSync(home.token, 'the-token\n');
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    listener(request, response);
  });
  await new Promise<void>((resolve) =>
    way === 'fetch' ? server.listen(0, '127.0.0.1', resolve) : server.listen(home.socket, resolve),
  );
  const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const transport = way === 'fetch' ? fetchTransport({ url: url(), token: 'the-token' }) : socketTransport(home);
  return {
    client: createClient(transport),
    transport,
    requests,
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

describe.each<Way>(['a unix socket', 'fetch'])('over %s', (way) => {
  const serve = (listener: RequestListener) => serveBy(way, listener);

  describe('requests', () => {
    test.each<[string, (client: Client) => Promise<unknown>, string, string]>([
      [
        'a listing',
        (client) => client.listAgents({ project: 'a b', limit: 5, all: true }),
        'GET',
        '/api/agents?project=a+b&limit=5&all=true',
      ],
      ['a listing without a query', (client) => client.listAgents(), 'GET', '/api/agents'],
      [
        'an agent whose name is hostile',
        (client) => client.inspectAgent('../x?y#z'),
        'GET',
        '/api/agents/..%2Fx%3Fy%23z',
      ],
      ['a stop', (client) => client.stopAgent('brave-otter'), 'POST', '/api/agents/brave-otter/stop'],
      ['a look', (client) => client.doctor(), 'GET', '/api/doctor'],
      ['a repair', (client) => client.doctor({ repair: true }), 'POST', '/api/doctor/repair'],
      [
        'a page of output',
        (client) => client.output('x', { format: 'raw', tail: 3 }),
        'GET',
        '/api/agents/x/output?format=raw&tail=3',
      ],
      ['a page of events', (client) => client.events({ after: 0 }), 'GET', '/api/events?after=0'],
    ])('%s', async (_name, call, method, url) => {
      await using served = await serve(answer(200, '{"a":1}'));
      expect(await call(served.client)).toEqual({ a: 1 });
      expect(served.requests[0]).toMatchObject({ method, url });
      expect(served.requests[0]?.headers).toMatchObject({ authorization: 'Bearer the-token' });
    });

    test('work sends its body and its key', async () => {
      let received = '';
      await using served = await serve((request, response) => {
        request.setEncoding('utf8').on('data', (text: string) => (received += text));
        request.on('end', () => response.end('{}'));
      });
      const body = { path: '/shop', task: 'é 😀', provider: 'scripted' };
      await served.client.work(body, 'key-12345');
      expect(JSON.parse(received)).toEqual(body);
      expect(served.requests[0]?.headers).toMatchObject({
        'idempotency-key': 'key-12345',
        'content-type': 'application/json',
      });
    });

    test.each<[string, (client: Client) => Promise<unknown>, string]>([
      ['agent', (client) => client.inspectAgent('..'), 'agent_not_found'],
      ['run', (client) => client.runResult('.'), 'not_found'],
      ['worktree', (client) => client.restoreWorktree('..'), 'not_found'],
      ['task', (client) => client.showTask(''), 'not_found'],
      ['change', (client) => client.showChange('..'), 'not_found'],
    ])('a name that would lead to another path is not a %s', async (noun, call, code) => {
      await using served = await serve(answer(200, '{}'));
      const error = await refusal(Promise.resolve().then(() => call(served.client)));
      expect(error).toMatchObject({ code, message: expect.stringContaining(`There is no ${noun} "`) as string });
      expect(served.requests).toEqual([]);
    });
  });

  describe('failures', () => {
    test('a failure is the original PawlError', async () => {
      const error = { code: 'ambiguous', message: 'Two fit.', hint: 'Say more.', details: { matches: [1] } };
      await using served = await serve(answer(409, JSON.stringify({ error })));
      expect(await refusal(served.client.inspectAgent('x'))).toMatchObject(error);
    });

    test('without a hint or details there are none', async () => {
      await using served = await serve(answer(500, '{"error":{"code":"internal","message":"x"}}'));
      const error = await refusal(served.client.daemon());
      expect(error.hint).toBeUndefined();
      expect(error.details).toEqual({});
    });

    test.each([
      ['null', 'The daemon answered 500.'],
      ['[]', 'The daemon answered 500.'],
      ['"x"', 'The daemon answered 500.'],
      ['{"error":null}', 'The daemon answered 500.'],
      ['{"error":"x"}', 'The daemon answered 500.'],
      ['{"error":{"code":"from_the_future","message":"New."}}', 'New.'],
      ['{"error":{"code":"constructor","message":5,"hint":7,"details":9}}', 'The daemon answered 500.'],
      ['<html>', 'something that is not JSON'],
      ['', 'something that is not JSON'],
    ])('a body of %s is an internal failure', async (body, message) => {
      await using served = await serve(answer(500, body));
      const error = await refusal(served.client.daemon());
      expect(error.code).toBe('internal');
      expect(error.message).toContain(message);
    });

    test('a response that is not JSON is an internal failure even with status 200', async () => {
      await using served = await serve(answer(200, 'ok'));
      expect(await refusal(served.client.daemon())).toMatchObject({ code: 'internal' });
    });
  });

  test.each(['before the answer', 'in the middle'])('a daemon that falls silent %s is reported', async (when) => {
    await using served = await serve((_request, response) => {
      if (when === 'in the middle') response.writeHead(200).write('{');
    });
    const request = { method: 'GET', path: '/', headers: {}, body: null, silenceMs: 100 };
    const { code } = await refusal(served.transport(request).then(readJson));
    expect(when === 'before the answer' ? ['timeout'] : ['timeout', 'daemon_unreachable']).toContain(code);
  });

  describe('a daemon that dies', () => {
    test('before it answers, or in the middle', async () => {
      await using dying = await serve((request) => void request.socket.destroy());
      expect(await refusal(dying.client.daemon())).toMatchObject({ code: 'daemon_unreachable' });
      await using cut = await serve((_request, response) => {
        response.writeHead(200, { 'content-length': 100 }).write('{"a":', () => response.socket?.destroy());
      });
      expect(await refusal(cut.client.daemon())).toMatchObject({ code: 'daemon_unreachable' });
    });
  });

  describe('streams', () => {
    const chunk = (id: number) => ({ id, sessionNo: 1, stream: 'stdout', offset: 0, at: 0, content: `line ${id}` });
    const event = (seq: number) => ({ seq, at: 0, type: 'run.started', projectId: null, agentId: null, data: {} });
    const open = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/event-stream' });

    test('output: chunks and the end; unknown messages are ignored', async () => {
      await using served = await serve((_request, response) => {
        open(response).end(
          `: hi\n\nid: 1\nevent: chunk\ndata: ${JSON.stringify(chunk(1))}\n\nevent: new\ndata: x\n\nevent: ended\ndata: {}\n\n`,
        );
      });
      const messages = await collect(served.client.followOutput('brave-otter', { after: 0, format: 'events' }));
      expect(messages).toEqual([{ type: 'chunk', chunk: chunk(1) }, { type: 'ended' }]);
      expect(served.requests[0]?.url).toBe('/api/agents/brave-otter/output?after=0&format=events');
      expect(served.requests[0]?.headers.accept).toBe('text/event-stream');
    });

    test('events: from the last one seen, with gaps', async () => {
      await using served = await serve((_request, response) => {
        open(response).end(`event: gap\ndata: {"lastSeq":7}\n\nid: 8\ndata: ${JSON.stringify(event(8))}\n\n`);
      });
      const messages = await collect(served.client.followEvents(99, { agent: 'x' }));
      expect(messages).toEqual([
        { type: 'gap', lastSeq: 7 },
        { type: 'event', event: event(8) },
      ]);
      expect(served.requests[0]?.headers['last-event-id']).toBe('99');
    });

    test('a character that the network cuts in two', async () => {
      const line = (seq: number, task: string) => `data: ${JSON.stringify({ ...event(seq), data: { task } })}\n\n`;
      const bytes = Buffer.from(line(1, 'a') + line(2, '😀'));
      const middle = bytes.indexOf(Buffer.from('😀')) + 2;
      let sendRest = () => {};
      await using served = await serve((_request, response) => {
        open(response).write(bytes.subarray(0, middle));
        sendRest = () => void response.end(bytes.subarray(middle));
      });
      const tasks: unknown[] = [];
      for await (const message of served.client.followEvents(0)) {
        tasks.push(message.type === 'event' && message.event.data['task']);
        // The first message is here, so the first half of the second one's character is too.
        sendRest();
        sendRest = () => {};
      }
      expect(tasks).toEqual(['a', '😀']);
    });

    test('a refusal is thrown before anything is read', async () => {
      await using served = await serve(answer(404, '{"error":{"code":"agent_not_found","message":"x"}}'));
      const error = await refusal(collect(served.client.followOutput('x', {})));
      expect(error.code).toBe('agent_not_found');
    });

    test('a connection lost in the middle is distinguished from an end', async () => {
      await using served = await serve((_request, response) => {
        open(response).write(`event: chunk\ndata: ${JSON.stringify(chunk(1))}\n\n`, () => response.socket?.destroy());
      });
      const seen: unknown[] = [];
      const read = async () => {
        for await (const message of served.client.followOutput('x', {})) seen.push(message);
      };
      expect(await refusal(read())).toMatchObject({ code: 'daemon_unreachable' });
      expect(seen).toEqual([{ type: 'chunk', chunk: chunk(1) }]);
    });

    test.each(['before the answer', 'after the first message'])('an abort %s ends the stream', async (when) => {
      const controller = new AbortController();
      let closed: Promise<unknown> = Promise.resolve();
      await using served = await serve((request, response) => {
        closed = new Promise((resolve) => request.socket.once('close', resolve));
        if (when === 'before the answer') controller.abort();
        else open(response).write(`data: ${JSON.stringify(event(1))}\n\n`);
      });
      const seen: unknown[] = [];
      for await (const message of served.client.followEvents(0, {}, controller.signal)) {
        seen.push(message);
        controller.abort();
      }
      expect(seen).toHaveLength(when === 'before the answer' ? 0 : 1);
      await closed;
    });

    test('leaving the loop closes the connection', async () => {
      let closed: Promise<unknown> = Promise.resolve();
      await using served = await serve((request, response) => {
        closed = new Promise((resolve) => request.socket.once('close', resolve));
        open(response).write(`data: ${JSON.stringify(event(1))}\n\n`);
      });
      for await (const _message of served.client.followEvents(0)) break;
      await closed;
      expect(served.requests).toHaveLength(1);
    });
  });
});
