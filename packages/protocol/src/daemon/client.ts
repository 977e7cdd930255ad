import type { Event } from '@pawl/schema/event';
import type { DaemonView, Diagnosis, EventPage, Whoami } from './view.ts';
import type { Requests } from '../requests.ts';
import { withQuery } from '../requests.ts';

export type EventMessage = { type: 'event'; event: Event } | { type: 'gap'; lastSeq: number };

/** The client for the daemon itself. */
export type DaemonClient = {
  whoami(): Promise<Whoami>;
  daemon(): Promise<DaemonView>;
  stopDaemon(): Promise<{ pid: number }>;
  doctor(options?: { repair?: boolean }): Promise<Diagnosis>;
  events(query?: { after?: number; limit?: number; agent?: string; tail?: number }): Promise<EventPage>;
  followEvents(after: number, query?: { agent?: string }, signal?: AbortSignal): AsyncGenerator<EventMessage>;
};

export function daemonClient({ get, post, stream }: Requests): DaemonClient {
  return {
    whoami: () => get('/api/whoami'),
    daemon: () => get('/api/daemon'),
    stopDaemon: () => post('/api/daemon/stop'),
    doctor: ({ repair = false } = {}) => (repair ? post('/api/doctor/repair') : get('/api/doctor')),
    events: (query) => get('/api/events', query),
    async *followEvents(after, query = {}, signal) {
      const headers = { 'last-event-id': String(after) };
      for await (const { event, data } of stream(withQuery('/api/events', query), { headers, signal })) {
        if (event === 'gap') yield { type: 'gap', lastSeq: (JSON.parse(data) as { lastSeq: number }).lastSeq };
        else yield { type: 'event', event: JSON.parse(data) as Event };
      }
    },
  };
}
