import { OpenAPIHono } from '@hono/zod-openapi';
import { routes } from '@pawl/protocol/routes';
import { version } from '@pawl/protocol/programs';
import type { DaemonView, ErrorView, OutputChunk } from '@pawl/protocol/view';
import { errorCodes, messageOf, PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import { agentById } from '@pawl/store/agents';
import { readChunks, recentChunkId } from '@pawl/store/chunks';
import { readEvents, recentEvents } from '@pawl/store/events';
import { listProjects } from '@pawl/store/projects';
import type { Context } from 'hono';
import { HTTPException } from 'hono/http-exception';
import * as z from 'zod';
import type { EventFeed } from '../event-feed.ts';
import type { OutputFeed } from '../output-feed.ts';
import type { Agents } from '../service/agents.ts';
import type { Doctor } from '../service/doctor.ts';
import { addProject } from '../service/projects.ts';
import { forkWorker } from '../service/work.ts';
import type { Workshop } from '../workshop.ts';
import type { DoorVariables } from './door.ts';
import { lockDoor, personOnly, selfOnly } from './door.ts';
import { outputPresenter } from './output.ts';
import type { SseMessage } from './sse.ts';
import { eventStream } from './sse.ts';

export type AppParts = {
  shop: Workshop;
  agents: Agents;
  doctor: Doctor;
  events: EventFeed;
  output: OutputFeed;
  port(): number | null;
  describe(): Promise<DaemonView>;
  wake(agentId: string): void;
  requestStop(): void;
};

const outputPage = { limitRows: 200, limitBytes: 1024 * 1024 };

/** What no agent may do. */
const personRoutes = [
  routes.stopDaemon,
  routes.doctor,
  routes.repair,
  routes.addProject,
  routes.work,
  routes.stopAgent,
];

/** Every route with its handler, behind the door. */
export function buildApp(parts: AppParts): OpenAPIHono<DoorVariables> {
  const { shop, agents } = parts;
  const app = new OpenAPIHono<DoorVariables>({
    defaultHook(result) {
      if (!result.success) throw new PawlError('invalid_input', z.prettifyError(result.error), { cause: result.error });
    },
  });
  let streams = 0;
  const openStream = () => {
    if (streams >= limits.streams)
      throw new PawlError('unavailable', `There are ${streams} open streams already.`, { hint: 'Close one of them.' });
    streams++;
    return () => void streams--;
  };

  app.onError((error, context) => failed(error, context, shop));
  app.notFound((context) =>
    failed(
      new PawlError('not_found', 'There is nothing at this path.', { hint: 'See /api/openapi.json.' }),
      context,
      shop,
    ),
  );
  app.use(
    lockDoor({
      authority: shop.authority,
      port: () => parts.port(),
      async isLivingAgent(agentId) {
        const agent = await agentById(shop.store.db, agentId);
        return agent !== null && agent.endedAt === null;
      },
    }),
  );

  // Who may ask is settled before what they ask is looked at.
  for (const route of personRoutes) app.on(route.method, route.getRoutingPath(), personOnly);

  app.use(async (context, next) => {
    const { method, path } = context.req;
    // Whoever changed something is on record, with where they came in.
    if (method !== 'GET')
      shop.log.info(
        { method, path, caller: context.get('caller'), host: context.req.header('host') },
        'asked for a change',
      );
    await next();
  });

  app.openapi(routes.health, (context) => context.json({ status: 'ok' as const, version }, 200));
  app.openapi(routes.daemon, async (context) => context.json(await parts.describe(), 200));
  app.openapi(routes.stopDaemon, (context) => {
    parts.requestStop();
    return context.json({ stopping: true as const, pid: process.pid }, 200);
  });
  app.openapi(routes.doctor, async (context) => {
    return context.json(await parts.doctor.examine(), 200);
  });
  app.openapi(routes.repair, async (context) => {
    return context.json(await parts.doctor.repair(), 200);
  });
  app.openapi(routes.listProjects, async (context) =>
    context.json({ projects: await listProjects(shop.store.db) }, 200),
  );
  app.openapi(routes.addProject, async (context) => {
    return context.json(await addProject(shop, context.req.valid('json')), 200);
  });
  app.openapi(routes.listAgents, async (context) => {
    const { all, ...query } = context.req.valid('query');
    return context.json(await agents.list({ ...query, all: all === 'true' }), 200);
  });
  app.openapi(routes.work, async (context) => {
    const agent = await forkWorker(shop, context.req.valid('json'), context.req.valid('header')['idempotency-key']);
    parts.wake(agent.id);
    return context.json({ agent: await agents.view(agent.id) }, 200);
  });
  app.openapi(routes.inspectAgent, async (context) => {
    const agent = await agents.find(context.req.valid('param').reference);
    selfOnly(context, agent.id);
    return context.json(await agents.inspect(agent.id), 200);
  });
  app.openapi(routes.stopAgent, async (context) => {
    const agent = await agents.find(context.req.valid('param').reference);
    return context.json({ agent: await agents.stop(agent.id) }, 200);
  });
  app.openapi(routes.output, async (context) => {
    const agent = await agents.find(context.req.valid('param').reference);
    selfOnly(context, agent.id);
    const { after, limit, tail, format = 'raw' } = context.req.valid('query');
    const presenter = outputPresenter(shop, agent, format);
    let from = after ?? (tail === undefined ? 0 : await recentChunkId(shop.store.db, agent.id, tail));
    if (!wantsStream(context, false)) {
      const page = await readChunks(shop.store.db, {
        agentId: agent.id,
        afterId: from,
        ...outputPage,
        ...(limit === undefined ? {} : { limitRows: limit }),
      });
      const chunks = await inOrder(page, presenter.present);
      const last = page.at(-1)?.id ?? from;
      const rest = await readChunks(shop.store.db, { agentId: agent.id, afterId: last, limitRows: 1, limitBytes: 1 });
      const more = rest.length > 0;
      const ended = !(await agents.isWorking(agent.id));
      if (ended && !more) chunks.push(...presenter.rest());
      return context.json({ chunks, more, ended }, 200);
    }
    let ended = false;
    from = Number(context.req.header('last-event-id') ?? from) || from;
    const closeStream = openStream();
    const reader = parts.output.open(agent.id);
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
  app.openapi(routes.events, async (context) => {
    const { after, limit, agent, tail } = context.req.valid('query');
    const agentId = agent === undefined ? undefined : (await agents.find(agent)).id;
    selfOnly(context, agentId ?? null);
    const filter = agentId === undefined ? {} : { agentId };
    const lastSeq = parts.events.lastSeq();
    if (!wantsStream(context, true)) {
      const page = limit ?? limits.pageRows;
      const events =
        tail === undefined || after !== undefined
          ? await readEvents(shop.store.db, { afterSeq: after ?? 0, limit: page, ...filter })
          : await recentEvents(shop.store.db, { limit: tail, ...filter });
      return context.json({ events, lastSeq }, 200);
    }
    const known = context.req.valid('header')['last-event-id'] ?? after;
    // A client that knows more than the log does saw a database that is gone: it must look at everything afresh.
    let gap = known !== undefined && known > lastSeq;
    let seq = known === undefined || gap ? lastSeq : known;
    return eventStream(
      context.req.raw.signal,
      async (signal) => {
        if (gap) {
          gap = false;
          return [{ id: seq, event: 'gap', data: { lastSeq: seq } }];
        }
        const next = await parts.events.next(seq, filter, signal);
        ({ seq } = next);
        return next.events.map((event) => ({ id: event.seq, data: event }));
      },
      openStream(),
    );
  });
  app.doc31('/api/openapi.json', {
    openapi: '3.1.0',
    info: {
      title: 'Pawl',
      version,
      description: 'The daemon of one home. Every route but /healthz needs the bearer token.',
    },
  });
  return app;
}

/** Reads `Accept`: a stream when it is asked for, or by default where a route is a stream first of all. */
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

/** What we foresaw, and what the framework says about a body that it cannot read. */
function knownFailure(error: Error): PawlError | null {
  if (error instanceof PawlError) return error;
  if (error instanceof HTTPException && error.status < 500) return new PawlError('invalid_input', error.message);
  return null;
}

/** Every failure in one shape. What was not expected is logged with where it came from, which is not told. */
function failed(error: Error, context: Context, shop: Workshop): Response {
  const known = knownFailure(error);
  if (known === null) shop.log.error({ error: error.stack, path: context.req.path }, 'a request failed');
  const body: ErrorView = {
    error: known
      ? {
          code: known.code,
          message: known.message,
          ...(known.hint === undefined ? {} : { hint: known.hint }),
          ...(Object.keys(known.details).length === 0 ? {} : { details: known.details }),
        }
      : {
          code: 'internal',
          message: `Something went wrong inside the daemon: ${messageOf(error)}`,
          hint: 'Its log says more.',
        },
  };
  return context.json(body, errorCodes[body.error.code].http as 500);
}
