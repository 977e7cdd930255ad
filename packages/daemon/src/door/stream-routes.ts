import type { OpenAPIHono } from '@hono/zod-openapi';
import { routes } from '@pawl/protocol/routes';
import type { OutputChunk } from '@pawl/protocol/sessions/view';
import { limits } from '@pawl/schema/limit';
import { readChunks, recentChunkId } from '@pawl/store/sessions/chunks';
import { readEvents, recentEvents } from '@pawl/store/events';
import type { Context } from 'hono';
import type { SessionPlatform } from '../accounts/session-platform.ts';
import type { Agents } from '../agents/agents.ts';
import type { EventFeed } from '../platform/event-feed.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { OutputFeed } from '../sessions/output-feed.ts';
import { runtimeStream } from './runtime-stream.ts';
import type { DoorVariables } from '../platform/http/door.ts';
import { selfOnly } from '../platform/http/door.ts';
import type { OpenStream } from '../platform/http/stream-slots.ts';
import { streamSlots } from '../platform/http/stream-slots.ts';
import { outputPresenter } from '../sessions/output.ts';
import type { SseMessage } from '../platform/http/sse.ts';
import { eventStream } from '../platform/http/sse.ts';

const outputPage = { limitRows: 200, limitBytes: 1024 * 1024 };

export type StreamParts = {
  platform: SessionPlatform;
  agents: Agents;
  feeds: { events: EventFeed; output: OutputFeed };
  runtime: Runtime;
};

/** Routes that return a page or a stream, as the reader asks: output and events. */
export function addStreamRoutes(app: OpenAPIHono<DoorVariables>, parts: StreamParts): void {
  const openStream = streamSlots((open) => `There are ${open} open streams already.`, 'Close one of them.');
  addOutputRoute(app, parts, openStream);
  addEventRoute(app, parts, openStream);
}

function addOutputRoute(app: OpenAPIHono<DoorVariables>, parts: StreamParts, openStream: OpenStream): void {
  const { platform, agents } = parts;
  app.openapi(routes.output, async (context) => {
    const agent = await agents.find(context.req.valid('param').reference);
    selfOnly(context, agent.id);
    const { after, limit, tail, format = 'raw' } = context.req.valid('query');
    const presenter = outputPresenter(platform, agent, format);
    let from = after ?? (tail === undefined ? 0 : await recentChunkId(platform.store.db, agent.id, tail));
    if (!wantsStream(context, false)) {
      const page = await readChunks(platform.store.db, {
        agentId: agent.id,
        afterId: from,
        ...outputPage,
        ...(limit === undefined ? {} : { limitRows: limit }),
      });
      const chunks = await inOrder(page, presenter.present);
      const last = page.at(-1)?.id ?? from;
      const rest = await readChunks(platform.store.db, {
        agentId: agent.id,
        afterId: last,
        limitRows: 1,
        limitBytes: 1,
      });
      const more = rest.length > 0;
      const ended = !(await agents.isWorking(agent.id));
      if (ended && !more) chunks.push(...presenter.rest());
      return context.json({ chunks, more, ended }, 200);
    }
    let ended = false;
    from = Number(context.req.header('last-event-id') ?? from) || from;
    const closeStream = openStream();
    const reader = parts.feeds.output.open(agent.id);
    return eventStream(
      context.req.raw.signal,
      async (signal) => {
        if (ended) return null;
        const chunks = await reader.next(from, signal);
        ended = chunks === null;
        const rest = chunks === null ? presenter.rest() : [];
        if (chunks === null) return [...rest.map(chunkMessage), { event: 'ended', data: {} }];
        from = chunks.at(-1)?.id ?? from;
        return (await inOrder(chunks, presenter.present)).map(chunkMessage);
      },
      () => {
        reader.close();
        closeStream();
      },
    );
  });
}

function addEventRoute(app: OpenAPIHono<DoorVariables>, parts: StreamParts, openStream: OpenStream): void {
  const { platform, agents } = parts;
  app.openapi(routes.events, async (context) => {
    const { after, limit, agent, tail, view, ...runtime } = context.req.valid('query');
    const agentId = agent === undefined ? undefined : (await agents.find(agent)).id;
    selfOnly(context, agentId ?? null);
    const known = context.req.valid('header')['last-event-id'] ?? after;
    if (view === 'runtime') return runtimeStream(context, parts, { ...runtime, agentId, known }, openStream);
    const filter = agentId === undefined ? {} : { agentId };
    const lastSeq = parts.feeds.events.lastSeq();
    if (!wantsStream(context, true)) {
      const page = limit ?? limits.pageRows;
      const events =
        tail === undefined || after !== undefined
          ? await readEvents(platform.store.db, { afterSeq: after ?? 0, limit: page, ...filter })
          : await recentEvents(platform.store.db, { limit: tail, ...filter });
      return context.json({ events, lastSeq }, 200);
    }
    // A client that is ahead of the log has seen a database that was replaced: it must reload everything.
    let gap = known !== undefined && known > lastSeq;
    let seq = known === undefined || gap ? lastSeq : known;
    return eventStream(
      context.req.raw.signal,
      async (signal) => {
        if (gap) {
          gap = false;
          return [{ id: seq, event: 'gap', data: { lastSeq: seq } }];
        }
        const next = await parts.feeds.events.next(seq, filter, signal);
        ({ seq } = next);
        return next.events.map((event) => ({ id: event.seq, data: event }));
      },
      openStream(),
    );
  });
}

/** Reads `Accept`: a stream if requested, or by default for a route that is mainly a stream. */
function wantsStream(context: Context, byDefault: boolean): boolean {
  const accept = context.req.header('accept') ?? '*/*';
  if (accept.includes('text/event-stream')) return true;
  return byDefault && !accept.includes('application/json');
}

function chunkMessage(chunk: OutputChunk): SseMessage {
  return { id: chunk.id, event: 'chunk', data: chunk };
}

async function inOrder<T, R>(items: T[], job: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (const item of items) results.push(await job(item));
  return results;
}
