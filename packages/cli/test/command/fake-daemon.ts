import { homeAt } from '@pawl/protocol/node/home';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { CommandContext } from '../../src/context.ts';
import { palette } from '../../src/terminal/palette.ts';

export type Exchange = { request: IncomingMessage; url: URL; response: ServerResponse; body: unknown };
export type FakeDaemon = {
  context: CommandContext;
  /** Method, path and query of each request, in order. */
  requests: string[];
  /** What each request carried, null when it was empty. */
  bodies: unknown[];
  /** What the command recorded or answered. */
  printed: { kind: string; data: unknown }[];
  /** The same as text, without --json. */
  texts: string[];
  /** What it said on stderr beside its answer. */
  said: string[];
} & AsyncDisposable;

/** A server on a home's socket that answers as the test says, and a context that keeps what a command prints. */
export async function fakeDaemon(
  answer: (exchange: Exchange) => void,
  { json = true }: { json?: boolean } = {},
): Promise<FakeDaemon> {
  const directory = await temporaryDirectory('pawl-fake');
  const home = homeAt(directory.path);
  writeFileSync(home.token, 'x');
  const heard: Pick<FakeDaemon, 'requests' | 'bodies'> = { requests: [], bodies: [] };
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (part: string) => (text += part));
    request.on('end', () => {
      const body: unknown = text === '' ? null : JSON.parse(text);
      heard.requests.push(`${request.method} ${request.url}`);
      heard.bodies.push(body);
      answer({ request, response, url: new URL(request.url ?? '', 'http://localhost'), body });
    });
  });
  await new Promise<void>((resolve) => server.listen(home.socket, resolve));
  const told: Pick<FakeDaemon, 'printed' | 'texts' | 'said'> = { printed: [], texts: [], said: [] };
  const print = (kind: string, data: unknown, text: () => string | null) => {
    told.printed.push({ kind, data });
    const line = json ? null : text();
    if (line !== null) told.texts.push(line);
  };
  return {
    context: {
      home,
      json,
      quiet: false,
      colours: palette({}),
      columns: 80,
      answer: print,
      record: print,
      say: (text) => void told.said.push(text),
    },
    ...heard,
    ...told,
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

/** Answers with a failure. */
export function sendFailure(response: ServerResponse, code: string, message = code): void {
  response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { code, message } }));
}

/** Answers with a stream of the given messages, which then ends. */
export function sendStream(response: ServerResponse, messages: { event?: string; data: unknown }[]): void {
  const text = messages.map(({ event = 'message', data }) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text.join(''));
}
