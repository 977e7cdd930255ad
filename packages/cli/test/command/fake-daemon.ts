import { homeAt } from '@pawl/protocol/home';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { CommandContext } from '../../src/context.ts';
import { palette } from '../../src/terminal.ts';

export type Exchange = { request: IncomingMessage; url: URL; response: ServerResponse };
export type FakeDaemon = {
  context: CommandContext;
  /** Method, path and query of each request, in order. */
  requests: string[];
  /** What the command recorded or answered. */
  printed: { kind: string; data: unknown }[];
} & AsyncDisposable;

/** A server on a home's socket that answers as the test says, and a context that keeps what a command prints. */
export async function fakeDaemon(answer: (exchange: Exchange) => void): Promise<FakeDaemon> {
  const directory = await temporaryDirectory('pawl-fake');
  const home = homeAt(directory.path);
  writeFileSync(home.token, 'x');
  const requests: string[] = [];
  const printed: FakeDaemon['printed'] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    answer({ request, response, url: new URL(request.url ?? '', 'http://localhost') });
  });
  await new Promise<void>((resolve) => server.listen(home.socket, resolve));
  const print = (kind: string, data: unknown) => void printed.push({ kind, data });
  return {
    context: {
      home,
      json: true,
      quiet: false,
      colours: palette({}),
      columns: 80,
      answer: print,
      record: print,
      say() {},
    },
    requests,
    printed,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await directory[Symbol.asyncDispose]();
    },
  };
}

/** Answers with JSON. */
export function sendJson(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

/** Answers with a stream of the given messages, which then ends. */
export function sendStream(response: ServerResponse, messages: { event?: string; data: unknown }[]): void {
  const text = messages.map(({ event = 'message', data }) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text.join(''));
}
