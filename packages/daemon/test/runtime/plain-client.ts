import { readFileSync } from 'node:fs';
import type { TestDaemon } from '../support/daemon.ts';

export type PlainEvent = { seq: number; type: string; [field: string]: unknown };
// oxlint-disable-next-line no-explicit-any -- a client that knows no types of ours
type Answer = { status: number; body: any };

/** An open stream of events. */
type PlainStream = {
  /** Collects events until these satisfy `done`, then closes the stream. */
  until(done: (events: PlainEvent[]) => boolean): Promise<PlainEvent[]>;
};

/** A client that knows only the text of the contract: plain HTTP, JSON and server-sent events. */
export type PlainClient = {
  get(path: string): Promise<Answer>;
  post(path: string, body: unknown): Promise<Answer>;
  /** Opens the events after the last known one, or from now on. */
  open(query?: string, lastEventId?: number): Promise<PlainStream>;
};

export function plainClient(daemon: Pick<TestDaemon, 'port' | 'home'>): PlainClient {
  const base = `http://127.0.0.1:${daemon.port}`;
  const authorization = `Bearer ${readFileSync(daemon.home.token, 'utf8').trim()}`;
  const ask = async (path: string, init: RequestInit) => {
    const answer = await fetch(`${base}${path}`, init);
    return { status: answer.status, body: await answer.json() };
  };
  return {
    get: (path) => ask(path, { headers: { authorization } }),
    post: (path, body) =>
      ask(path, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    async open(query = '', lastEventId) {
      const stopping = new AbortController();
      const known: Record<string, string> = lastEventId === undefined ? {} : { 'last-event-id': String(lastEventId) };
      const answer = await fetch(`${base}/api/events?view=runtime${query}`, {
        headers: { authorization, accept: 'text/event-stream', ...known },
        signal: stopping.signal,
      });
      return {
        async until(done) {
          const events: PlainEvent[] = [];
          for await (const event of eventsIn(answer)) {
            events.push(event);
            if (done(events)) break;
          }
          stopping.abort();
          return events;
        },
      };
    },
  };
}

async function* eventsIn(answer: Response): AsyncGenerator<PlainEvent> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const bytes of answer.body ?? []) {
    text += decoder.decode(bytes, { stream: true });
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const lines = block.split('\n');
      const data = lines.filter((line) => line.startsWith('data: ')).map((line) => line.slice(6));
      // Comments keep the connection alive, and named messages are not events of the contract.
      if (data.length > 0 && !lines.some((line) => line.startsWith('event: ')))
        yield JSON.parse(data.join('\n')) as PlainEvent;
    }
  }
}
