import type { Event } from '@pawl/schema/event';
import type { Project } from '@pawl/schema/record';
import { exchange, readJson, readMessages } from './exchange.ts';
import type { Home } from './home.ts';
import type {
  AgentAnswer,
  AgentList,
  DaemonView,
  Diagnosis,
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
  output(reference: string, query?: OutputQuery & { limit?: number }): Promise<OutputPage>;
  followOutput(reference: string, query: OutputQuery, signal?: AbortSignal): AsyncGenerator<OutputMessage>;
  events(query?: { after?: number; limit?: number; agent?: string; tail?: number }): Promise<EventPage>;
  followEvents(after: number, query?: { agent?: string }, signal?: AbortSignal): AsyncGenerator<EventMessage>;
};

/** Output after one chunk, or the last `tail` chunks and what follows them, or all of it. */
export type OutputQuery = { after?: number; tail?: number; format?: 'raw' | 'events' };
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
      for await (const message of readMessages(home, path, {}, signal)) {
        if (message.event === 'chunk') yield { type: 'chunk', chunk: JSON.parse(message.data) as OutputChunk };
        else if (message.event === 'ended') yield { type: 'ended' };
      }
    },
    async *followEvents(after, query = {}, signal) {
      const path = withQuery('/api/events', query);
      for await (const message of readMessages(home, path, { 'last-event-id': String(after) }, signal)) {
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
