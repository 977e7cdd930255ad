import { pageKeyHeader } from '@pawl/protocol/web/page-key';
import { webRoutes } from '@pawl/protocol/web/routes';
import { PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import type { IncomingMessage } from 'node:http';
import type { Context, MiddlewareHandler } from 'hono';
import type { Authority, Caller } from './authority.ts';
import { isAssetPath, isPageRequest } from './page-request.ts';

export type DoorVariables = { Variables: { caller: Caller; isGated?: boolean } };

export type Door = {
  authority: Authority;
  /** The port of the loopback listener, once known. */
  port(): number | null;
  isLivingAgent(agentId: string): Promise<boolean>;
  /** The session of a browser, by its cookies and its page's key. */
  webSession(cookies: string | undefined, key: string | undefined): Promise<{ id: string; ended: AbortSignal } | null>;
};

/** The only path with an answer that needs nothing. */
const openPath = '/healthz';

/**
 * Guards every route. First refuses browser pages of other origins (compares Host and Origin as a whole), then
 * identifies the caller by token, or a browser by its session. There are no CORS headers.
 */
export function lockDoor(door: Door): MiddlewareHandler<DoorVariables> {
  return async (context, next) => {
    checkOrigin(context, door.port());
    if (context.req.method === 'HEAD') throw new PawlError('usage', 'HEAD is not served; use GET.');
    if (context.req.path === openPath && context.req.method === 'GET') return next();
    if (isPageRequest(context.req)) return next();
    if (isExchange(context)) {
      requireOwnOrigin(context);
      checkBody(context);
      return next();
    }
    const caller = await callerOf(context, door);
    if (caller === null) {
      throw new PawlError('unauthorized', 'This requires the token of this home.', {
        hint: 'Send `Authorization: Bearer …` with the text of the file `token` in PAWL_HOME; in a browser, run `pawl web`.',
      });
    }
    context.set('caller', caller);
    checkBody(context);
    await next();
  };
}

async function callerOf(context: Context, door: Door): Promise<Caller | null> {
  const header = context.req.header('authorization');
  if (header === undefined) return browserOf(context, door);
  const caller = door.authority.identify(header);
  if (caller?.kind === 'agent' && !(await door.isLivingAgent(caller.agentId))) return null;
  return caller;
}

/** The person, by the session of their browser. Sessions count on the loopback port only: agents see the socket. */
async function browserOf(context: Context, door: Door): Promise<Caller | null> {
  if (!isOverLoopback(context)) return null;
  const session = await door.webSession(context.req.header('cookie'), context.req.header(pageKeyHeader));
  if (session === null) return null;
  if (context.req.method !== 'GET') requireOwnOrigin(context);
  else if (context.req.header('accept')?.includes('text/event-stream')) endWith(context, session.ended);
  return { kind: 'person', webSessionId: session.id };
}

/** Ends a stream when its session is revoked. */
function endWith(context: Context, ended: AbortSignal): void {
  const { url, method, headers, signal } = context.req.raw;
  context.req.raw = new Request(url, { method, headers, signal: AbortSignal.any([signal, ended]) });
}

function isOverLoopback(context: Context): boolean {
  const { incoming } = (context.env ?? {}) as { incoming?: IncomingMessage };
  return incoming?.socket.remoteAddress !== undefined;
}

function isExchange({ req }: Context): boolean {
  return req.method === 'POST' && req.path === webRoutes.openWebSession.path;
}

/** Refuses a browser's request that does not come from the page itself: the Origin must be exactly this Host. */
function requireOwnOrigin(context: Context): void {
  const host = context.req.header('host')?.toLowerCase() ?? '';
  if (host.includes(':') && context.req.header('origin')?.toLowerCase() === `http://${host}`) return;
  throw new PawlError('forbidden', 'Only the page of this home may send this.');
}

/** Refuses the session of a browser where only the home's token counts. */
export function requireToken(context: Context<DoorVariables>): void {
  const caller = context.get('caller');
  if (caller.kind !== 'person' || caller.webSessionId === undefined) return;
  throw new PawlError('forbidden', 'A browser’s session does not open this.', { hint: 'Use the command line.' });
}

function checkOrigin(context: Context, port: number | null): void {
  const hosts = ['localhost', ...(port === null ? [] : [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`])];
  const host = context.req.header('host')?.toLowerCase() ?? '';
  if (!hosts.includes(host)) throw new PawlError('forbidden', 'This Host is not served here.');
  const origin = context.req.header('origin')?.toLowerCase();
  if (origin !== undefined && !hosts.some((allowed) => origin === `http://${allowed}`)) {
    throw new PawlError('forbidden', 'Requests from this Origin are refused.');
  }
  const site = context.req.header('sec-fetch-site');
  if (site !== undefined && site !== 'same-origin' && site !== 'none' && !isLinkToPage(context)) {
    throw new PawlError('forbidden', 'Requests from other sites are refused.');
  }
}

/** A link from elsewhere may open the page's document, which has no data; its frame or script may not. */
function isLinkToPage({ req }: Context): boolean {
  const isOpened = req.header('sec-fetch-mode') === 'navigate' && req.header('sec-fetch-dest') === 'document';
  return isOpened && isPageRequest(req) && !isAssetPath(req.path);
}

function checkBody(context: Context): void {
  if (context.req.method === 'GET' || context.req.method === 'HEAD') return;
  const type = context.req.header('content-type')?.split(';', 1)[0]?.trim().toLowerCase();
  if (type !== 'application/json') {
    throw new PawlError('unsupported_media_type', 'Requests that change something need a JSON body.', {
      hint: 'Send `Content-Type: application/json`.',
    });
  }
  // If the length is not given, reading the body stops at this limit.
  if (!(Number(context.req.header('content-length') ?? 0) <= limits.bodyBytes)) throw tooLarge();
}

/** Allows a person, and an agent that asks about itself. */
export function selfOnly(context: Context<DoorVariables>, agentId: string | null): void {
  const caller = context.get('caller');
  if (caller.kind === 'person' || caller.agentId === agentId) return;
  throw new PawlError('forbidden', 'Agents may only read their own data.');
}

/** Scopes an idempotency key to caller, verb and target. */
export function requestKey(
  context: Context<DoorVariables>,
  about: string,
  key: string | undefined,
): string | undefined {
  const caller = context.get('caller');
  return key === undefined ? undefined : `${caller.kind === 'person' ? 'person' : caller.agentId}:${about}:${key}`;
}

export function tooLarge(): PawlError {
  return new PawlError('too_large', `The body is longer than ${limits.bodyBytes} bytes.`, {
    hint: 'Put long text into a file of the repository, and name the file.',
  });
}
