import { hasErrno, PawlError } from '@pawl/schema/error';
import { lstatSync, readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request as httpRequest } from 'node:http';
import { dirname } from 'node:path';
import type { Answer, Transport, TransportRequest } from '../transport.ts';
import { silent, unreachable, usualSilenceMs } from '../transport.ts';
import type { Home } from './home.ts';
import { refuseLostToken } from './lost-token.ts';

/** Sends requests over a home's unix socket, by default with this process's own token. */
export function socketTransport(home: Home): Transport {
  return async (request) => answerOf(await send(home, request, 'any connection'));
}

function send(
  home: Home,
  given: TransportRequest,
  over: 'any connection' | 'a new connection',
): Promise<IncomingMessage> {
  const { method, path, headers, body, silenceMs = usualSilenceMs, signal, token } = given;
  return new Promise((resolve, reject) => {
    refuseForeignSocket(home);
    const request = httpRequest(
      {
        socketPath: home.socket,
        method,
        path,
        headers: {
          host: 'localhost',
          authorization: `Bearer ${token ?? readToken(home)}`,
          ...(body === null ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
          ...headers,
        },
        ...(signal ? { signal } : {}),
        ...(over === 'a new connection' ? { agent: false } : {}),
      },
      resolve,
    );
    request.setTimeout(silenceMs, () => request.destroy(silent(silenceMs)));
    request.on('error', (error) => {
      // The daemon closes idle connections. A busy process learns of it only when it sends.
      const isStale = over === 'any connection' && request.reusedSocket && hasErrno(error, 'ECONNRESET', 'EPIPE');
      if (isStale) resolve(send(home, given, 'a new connection'));
      else reject(connectionError(error));
    });
    request.end(body ?? undefined);
  });
}

function answerOf(response: IncomingMessage): Answer {
  return {
    status: response.statusCode ?? 0,
    cancel: () => void response.destroy(),
    async *[Symbol.asyncIterator]() {
      try {
        for await (const part of response) yield part as Uint8Array;
      } catch (error) {
        throw connectionError(error as Error);
      }
    },
  };
}

/**
 * If the home's path is too long for a socket, the socket is in a directory that anybody could have created first. The
 * token is only for our own daemon, so nothing is sent unless that directory is ours.
 */
function refuseForeignSocket(home: Home): void {
  const directory = dirname(home.socket);
  if (directory === home.root) return;
  const found = lstatSync(directory, { throwIfNoEntry: false });
  if (found === undefined || (found.isDirectory() && found.uid === process.getuid?.())) return;
  throw new PawlError('forbidden', `${directory} belongs to another user, so nothing is sent there.`, {
    hint: 'Choose a shorter PAWL_HOME of your own.',
  });
}

/** The token to send: the agent's own if this process belongs to an agent, else the person's. */
function readToken(home: Home): string {
  const own = process.env['PAWL_AGENT_TOKEN'];
  if (own) return own;
  refuseLostToken(process.env);
  try {
    return readFileSync(home.token, 'utf8').trim();
  } catch (error) {
    throw new PawlError('daemon_unreachable', `There is no token at ${home.token}.`, {
      hint: 'Start the daemon with `pawl up`.',
      cause: error,
    });
  }
}

function connectionError(error: Error): Error {
  if (!hasErrno(error, 'ECONNREFUSED', 'ENOENT', 'ECONNRESET', 'EPIPE', 'ENOTSOCK', 'EAGAIN')) return error;
  return unreachable(error, { errno: String((error as NodeJS.ErrnoException).code) });
}
