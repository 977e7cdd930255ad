import type { IncomingMessage } from 'node:http';
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { hasErrno, PawlError } from '@pawl/schema/error';
import { engineLimits } from '../limit.ts';

/** The target of a request: an address, or a unix socket of this machine. */
export type HttpTarget = { url: URL } | { socket: string; path: string };

export type HttpRequest = {
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  body?: string;
  signal: AbortSignal;
};

export type HttpResponse = {
  status: number;
  header(name: string): string;
  /** The body, piece by piece. Throws when it has more bytes than `mostBytes`. */
  pieces(mostBytes: number): AsyncGenerator<Buffer>;
  /** Ends the connection. */
  drop(): void;
};

/** Sends one request. Follows no redirect. Uses the proxy of the environment, as every program of a session must. */
export function sendRequest(target: HttpTarget, { method, headers, body, signal }: HttpRequest): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    const options = { method, headers, signal };
    const answered = (response: IncomingMessage) => resolve(responseOf(response));
    const request =
      'socket' in target
        ? httpRequest({ ...options, socketPath: target.socket, path: target.path, agent: false }, answered)
        : target.url.protocol === 'https:'
          ? httpsRequest(target.url, { ...options, agent: new HttpsAgent({ proxyEnv: process.env }) }, answered)
          : httpRequest(target.url, { ...options, agent: new HttpAgent({ proxyEnv: process.env }) }, answered);
    request.on('error', reject);
    request.end(body);
  });
}

/** The connection ended before the answer. */
export class CutShort extends Error {}

/** Repeats a request for a short time while the server is down, as during a restart. */
export async function whileAway<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> {
  const until = performance.now() + engineLimits.doorPatienceMs;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      const isAway = hasErrno(error, 'ECONNREFUSED', 'ENOENT', 'ECONNRESET', 'EPIPE') || error instanceof CutShort;
      if (!isAway || signal.aborted || performance.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, engineLimits.doorRetryMs));
    }
  }
}

function responseOf(response: IncomingMessage): HttpResponse {
  return {
    status: response.statusCode ?? 0,
    header: (name) => String(response.headers[name] ?? ''),
    async *pieces(mostBytes) {
      let bytes = 0;
      for await (const piece of response as AsyncIterable<Buffer>) {
        bytes += piece.length;
        if (bytes > mostBytes) throw new PawlError('too_large', `The answer has more than ${mostBytes} bytes.`);
        yield piece;
      }
    },
    drop: () => void response.destroy(),
  };
}

/** The whole body as text. */
export async function bodyText(response: HttpResponse, mostBytes: number): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of response.pieces(mostBytes)) pieces.push(piece);
  return Buffer.concat(pieces).toString('utf8');
}
