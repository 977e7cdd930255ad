import { readJson, readMessages } from './answer.ts';
import type { StreamMessage } from './event-stream.ts';
import type { Transport } from './transport.ts';

export type Query = Record<string, string | number | boolean | undefined>;

export type PostOptions = {
  query?: Query;
  /** The idempotency key. */
  key?: string;
  /** The request may take as long as an agent does: a fork waits for tools, a stop for processes. */
  waits?: boolean;
};

/** Requests with the client's credentials. */
export type Requests = {
  get<T>(path: string, query?: Query): Promise<T>;
  post<T>(path: string, body?: unknown, options?: PostOptions): Promise<T>;
  /** The messages of an event stream, until it ends or the signal aborts. */
  stream(path: string, options: { headers?: Record<string, string>; signal: AbortSignal | undefined }): Messages;
};

type Messages = AsyncGenerator<StreamMessage>;

/** Timeout of requests that wait for agents. */
const waitMs = 24 * 60 * 60 * 1000;

export type RequestOptions = {
  /** The token; by default the transport's own. */
  token?: string;
  /** Cancels requests when aborted; streams have their own signals. */
  signal?: AbortSignal;
};

/** Sends requests over a transport. */
export function createRequests(transport: Transport, { token, signal }: RequestOptions): Requests {
  return {
    get: async (path, query = {}) =>
      readJson(
        await transport({
          method: 'GET',
          path: withQuery(path, query),
          headers: { accept: 'application/json' },
          body: null,
          token,
          signal,
        }),
      ),
    post: async (path, body = {}, { query = {}, key, waits = false } = {}) =>
      readJson(
        await transport({
          method: 'POST',
          path: withQuery(path, query),
          headers: key === undefined ? {} : { 'idempotency-key': key },
          body: JSON.stringify(body),
          token,
          signal,
          ...(waits ? { silenceMs: waitMs } : {}),
        }),
      ),
    stream: (path, { headers = {}, signal: ends }) => readMessages(transport, path, headers, { signal: ends, token }),
  };
}

export function withQuery(path: string, query: Query): string {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) words.set(name, String(value));
  return words.size === 0 ? path : `${path}?${words.toString()}`;
}

/** The data of the messages with one event name. */
export async function* dataOf<T>(messages: Messages, event: string): AsyncGenerator<T> {
  for await (const message of messages) if (message.event === event) yield JSON.parse(message.data) as T;
}
