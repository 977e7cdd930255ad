import { PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import type { Context, MiddlewareHandler } from 'hono';
import type { Authority, Caller } from './authority.ts';

export type DoorVariables = { Variables: { caller: Caller; isGated?: boolean } };

export type Door = {
  authority: Authority;
  /** The port of the loopback listener, once known. */
  port(): number | null;
  isLivingAgent(agentId: string): Promise<boolean>;
};

/** The only path that answers without a token. */
const openPath = '/healthz';

/**
 * Guards every route. First refuses browser pages of other origins (compares Host and Origin as a whole), then
 * identifies the caller by token. There are no CORS headers.
 */
export function lockDoor(door: Door): MiddlewareHandler<DoorVariables> {
  return async (context, next) => {
    checkOrigin(context, door.port());
    if (context.req.method === 'HEAD') throw new PawlError('usage', 'HEAD is not served; use GET.');
    if (context.req.path === openPath && context.req.method === 'GET') return next();
    const caller = door.authority.identify(context.req.header('authorization'));
    if (caller === null || (caller.kind === 'agent' && !(await door.isLivingAgent(caller.agentId)))) {
      throw new PawlError('unauthorized', 'This requires the token of this home.', {
        hint: 'Send `Authorization: Bearer …` with the text of the file `token` in PAWL_HOME.',
      });
    }
    context.set('caller', caller);
    checkBody(context);
    await next();
  };
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
  if (site !== undefined && site !== 'same-origin' && site !== 'none') {
    throw new PawlError('forbidden', 'Requests from other sites are refused.');
  }
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
