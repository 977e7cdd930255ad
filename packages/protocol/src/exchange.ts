import type { ErrorCode } from '@pawl/schema/error';
import { errorCodes, hasErrno, PawlError } from '@pawl/schema/error';
import { lstatSync, readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request as httpRequest } from 'node:http';
import { dirname } from 'node:path';
import type { StreamMessage } from './event-stream.ts';
import { readEventStream } from './event-stream.ts';
import type { Home } from './home.ts';
import { refuseLostToken } from './lost-token.ts';

/** A daemon that is silent for this long, without even a keep-alive, does not answer. */
const usualSilenceMs = 60_000;

/** One request. */
export type Exchange = {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string | null;
  /** The timeout for silence; longer for requests that wait for agents. */
  silenceMs?: number;
  signal?: AbortSignal | undefined;
  /** The token; by default this process's own. */
  token?: string | undefined;
};

/** An answer: its status, its body in pieces, and a way to cancel. */
export type Answer = AsyncIterable<Uint8Array> & { statusCode?: number | undefined; destroy(): unknown };

/** Sends a request and returns its answer. */
export type Carry = (request: Exchange) => Promise<Answer>;

/** Sends one request over the home's socket and returns the answer once its head has arrived. */
export function exchange(home: Home, given: Exchange): Promise<IncomingMessage> {
  return send(home, given, 'any connection');
}

function send(home: Home, given: Exchange, over: 'any connection' | 'a new connection'): Promise<IncomingMessage> {
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
    request.setTimeout(silenceMs, () => request.destroy(noAnswer(silenceMs)));
    request.on('error', (error) => {
      // The daemon closes idle connections. A busy process learns of it only when it sends.
      const isStale = over === 'any connection' && request.reusedSocket && hasErrno(error, 'ECONNRESET', 'EPIPE');
      if (isStale) resolve(send(home, given, 'a new connection'));
      else reject(connectionError(error));
    });
    request.end(body ?? undefined);
  });
}

/** Parses a JSON answer; throws a reported failure as the original PawlError. */
export async function readJson<T>(response: Answer): Promise<T> {
  const text = await readText(response);
  const status = response.statusCode ?? 0;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new PawlError('internal', `The daemon answered ${status} with something that is not JSON.`, { cause });
  }
  if (status >= 400) throw errorOf(value, status);
  return value as T;
}

/** Reads a server-sent event stream until it ends or the signal aborts, which is a normal end. */
export async function* readMessages(
  carry: Carry,
  path: string,
  headers: Record<string, string>,
  { signal, token }: Pick<Exchange, 'signal' | 'token'> = {},
): AsyncGenerator<StreamMessage> {
  let response: Answer | undefined;
  try {
    const accept = { accept: 'text/event-stream', ...headers };
    response = await carry({ method: 'GET', path, headers: accept, body: null, signal, token });
    if ((response.statusCode ?? 0) >= 400) await readJson(response);
    yield* readEventStream(decoded(response));
  } catch (error) {
    if (!signal?.aborted) throw connectionError(error as Error);
  } finally {
    response?.destroy();
  }
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
  throw new PawlError('forbidden', `${directory} belongs to somebody else, so nothing is sent there.`, {
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

function noAnswer(silenceMs: number): PawlError {
  return new PawlError('timeout', `The daemon has said nothing for ${silenceMs / 1000} s.`, {
    hint: 'It may be stopped (SIGSTOP) or stuck: look at its state with `ps`, end it, and run `pawl up` again.',
  });
}

function connectionError(error: Error): Error {
  if (!hasErrno(error, 'ECONNREFUSED', 'ENOENT', 'ECONNRESET', 'EPIPE', 'ENOTSOCK', 'EAGAIN')) return error;
  return new PawlError('daemon_unreachable', 'The daemon does not answer.', {
    hint: 'Start it with `pawl up`; `pawl doctor` looks for the cause.',
    details: { errno: String((error as NodeJS.ErrnoException).code) },
    cause: error,
  });
}

async function* decoded(response: Answer): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const part of response) yield decoder.decode(part, { stream: true });
}

async function readText(response: Answer): Promise<string> {
  const parts: Uint8Array[] = [];
  try {
    for await (const part of response) parts.push(part);
  } catch (error) {
    throw connectionError(error as Error);
  }
  return Buffer.concat(parts).toString('utf8');
}

/** Parses the failure in an answer. Unknown codes of a newer daemon become `internal`. */
function errorOf(body: unknown, status: number): PawlError {
  const { code, message, hint, details } = recordOf(recordOf(body)['error']);
  return new PawlError(
    isErrorCode(code) ? code : 'internal',
    typeof message === 'string' ? message : `The daemon answered ${status}.`,
    { ...(typeof hint === 'string' ? { hint } : {}), details: recordOf(details) },
  );
}

function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(errorCodes, code);
}

function recordOf(value: unknown): Record<string, unknown> {
  return value !== null && typeof value === 'object' ? (value as Record<string, unknown>) : {};
}
