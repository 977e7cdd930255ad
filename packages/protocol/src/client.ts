import type { Event } from '@pawl/schema/event';
import { hasErrno, PawlError } from '@pawl/schema/error';
import type { Project } from '@pawl/schema/record';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request as httpRequest } from 'node:http';
import { readEventStream } from './event-stream.ts';
import type { Home } from './home.ts';
import type {
  AgentAnswer,
  AgentList,
  DaemonView,
  Diagnosis,
  ErrorView,
  EventPage,
  Inspection,
  OutputChunk,
  OutputPage,
  ProjectAdded,
  WorkBody,
} from './view.ts';

/** What a surface can ask the daemon. It loads nothing heavy, so that a short command stays short. */
export type Client = {
  daemon(): Promise<DaemonView>;
  stopDaemon(): Promise<{ pid: number }>;
  doctor(options?: { repair?: boolean }): Promise<Diagnosis>;
  listProjects(): Promise<{ projects: Project[] }>;
  addProject(body: { path: string; name?: string }): Promise<ProjectAdded>;
  listAgents(query?: { project?: string; limit?: number; all?: boolean }): Promise<AgentList>;
  work(body: WorkBody, idempotencyKey: string): Promise<AgentAnswer>;
  inspectAgent(reference: string): Promise<Inspection>;
  stopAgent(reference: string): Promise<AgentAnswer>;
  output(reference: string, query?: OutputQuery & { limit?: number; tail?: number }): Promise<OutputPage>;
  followOutput(reference: string, query: OutputQuery, signal?: AbortSignal): AsyncGenerator<OutputMessage>;
  events(query?: { after?: number; limit?: number; agent?: string; tail?: number }): Promise<EventPage>;
  followEvents(after: number, query?: { agent?: string }, signal?: AbortSignal): AsyncGenerator<EventMessage>;
};

export type OutputQuery = { after?: number; format?: 'raw' | 'events' };
export type OutputMessage = { type: 'chunk'; chunk: OutputChunk } | { type: 'ended' };
export type EventMessage = { type: 'event'; event: Event } | { type: 'gap'; lastSeq: number };

/** A client for the daemon of one home, over its unix socket. */
export function createClient(home: Home): Client {
  const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    exchange(home, { method, path, headers, body: body === undefined ? null : JSON.stringify(body) });
  const get = async <T>(path: string, query: Query = {}): Promise<T> =>
    readJson(await send('GET', withQuery(path, query), undefined, { accept: 'application/json' }));
  const post = async <T>(path: string, body: unknown = {}, headers: Record<string, string> = {}): Promise<T> =>
    readJson(await send('POST', path, body, headers));
  const agentPath = (reference: string, rest = '') => `/api/agents/${encodeURIComponent(reference)}${rest}`;

  return {
    daemon: () => get('/api/daemon'),
    stopDaemon: () => post('/api/daemon/stop'),
    doctor: ({ repair = false } = {}) => (repair ? post('/api/doctor/repair') : get('/api/doctor')),
    listProjects: () => get('/api/projects'),
    addProject: (body) => post('/api/projects', body),
    listAgents: (query) => get('/api/agents', query),
    work: (body, idempotencyKey) => post('/api/agents', body, { 'idempotency-key': idempotencyKey }),
    inspectAgent: (reference) => get(agentPath(reference)),
    stopAgent: (reference) => post(agentPath(reference, '/stop')),
    output: (reference, query) => get(agentPath(reference, '/output'), query),
    events: (query) => get('/api/events', query),
    async *followOutput(reference, query, signal) {
      const path = withQuery(agentPath(reference, '/output'), query);
      for await (const message of stream(home, path, {}, signal)) {
        if (message.event === 'chunk') yield { type: 'chunk', chunk: JSON.parse(message.data) as OutputChunk };
        else if (message.event === 'ended') yield { type: 'ended' };
      }
    },
    async *followEvents(after, query = {}, signal) {
      const path = withQuery('/api/events', query);
      for await (const message of stream(home, path, { 'last-event-id': String(after) }, signal)) {
        if (message.event === 'gap') {
          yield { type: 'gap', lastSeq: (JSON.parse(message.data) as { lastSeq: number }).lastSeq };
        } else yield { type: 'event', event: JSON.parse(message.data) as Event };
      }
    },
  };
}

type Query = Record<string, string | number | boolean | undefined>;

function withQuery(path: string, query: Query): string {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) words.set(name, String(value));
  return words.size === 0 ? path : `${path}?${words.toString()}`;
}

type Exchange = {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string | null;
  signal?: AbortSignal | undefined;
};

function exchange(home: Home, { method, path, headers, body, signal }: Exchange): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      {
        socketPath: home.socket,
        method,
        path,
        headers: {
          host: 'localhost',
          authorization: `Bearer ${readToken(home)}`,
          ...(body === null ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
          ...headers,
        },
        ...(signal ? { signal } : {}),
      },
      resolve,
    );
    request.on('error', (error) => reject(connectionError(error)));
    request.end(body ?? undefined);
  });
}

/** The token that opens the door: an agent's own when this process is part of an agent, else the person's. */
function readToken(home: Home): string {
  const own = process.env['PAWL_AGENT_TOKEN'];
  if (own) return own;
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
  if (!hasErrno(error, 'ECONNREFUSED', 'ENOENT', 'ECONNRESET', 'EPIPE', 'ENOTSOCK')) return error;
  return new PawlError('daemon_unreachable', 'The daemon does not answer.', {
    hint: 'Start it with `pawl up`; `pawl doctor` looks for the cause.',
    details: { errno: String((error as NodeJS.ErrnoException).code) },
    cause: error,
  });
}

async function readJson<T>(response: IncomingMessage): Promise<T> {
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

async function readText(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  try {
    for await (const part of response) parts.push(part as Buffer);
  } catch (error) {
    throw connectionError(error as Error);
  }
  return Buffer.concat(parts).toString('utf8');
}

function errorOf(value: unknown, status: number): PawlError {
  const error = (value as Partial<ErrorView>).error;
  if (error === undefined) return new PawlError('internal', `The daemon answered ${status}.`);
  return new PawlError(error.code, error.message, {
    ...(error.hint === undefined ? {} : { hint: error.hint }),
    ...(error.details === undefined ? {} : { details: error.details }),
  });
}

async function* stream(home: Home, path: string, headers: Record<string, string>, signal?: AbortSignal) {
  const response = await exchange(home, {
    method: 'GET',
    path,
    headers: { accept: 'text/event-stream', ...headers },
    body: null,
    signal,
  });
  if ((response.statusCode ?? 0) >= 400) await readJson(response);
  response.setEncoding('utf8');
  try {
    yield* readEventStream(response as AsyncIterable<string>);
  } catch (error) {
    if (signal?.aborted) return;
    throw connectionError(error as Error);
  } finally {
    response.destroy();
  }
}
