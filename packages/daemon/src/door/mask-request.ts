import type { OpenAPIHono } from '@hono/zod-openapi';
import { routes } from '@pawl/protocol/routes';
import { PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import type { Context } from 'hono';
import { redact, redactValue } from '../accounts/redaction.ts';
import type { SessionPlatform } from '../accounts/session-platform.ts';
import type { DoorVariables } from '../platform/http/door.ts';
import { tooLarge } from '../platform/http/door.ts';

/** Fields with credentials from a person, which go to the accounts and nowhere else. */
const credentials = new Map<string, 'secret' | 'environment'>([
  [routes.addAccount.path, 'secret'],
  [routes.work.path, 'environment'],
  [routes.startCrew.path, 'environment'],
]);

/**
 * Masks every secret of the home in a request before a handler sees it, so that no verb can store one. Add it before
 * the handlers.
 */
export function maskRequests(app: OpenAPIHono<DoorVariables>, platform: SessionPlatform): void {
  app.use(async (context, next) => {
    if (context.req.method === 'GET') return next();
    refuseSecretWords(context, platform);
    const text = await readBody(context);
    const { url, method, headers, signal } = context.req.raw;
    context.req.raw = new Request(url, { method, headers, signal, body: masked(context, platform, text) });
    return next();
  });
}

function masked(context: Context<DoorVariables>, platform: SessionPlatform, text: string): string {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    // The handler reports what is wrong with it.
    return redact(platform, text);
  }
  const kept = handedOver(context, platform, body);
  const clean = redactValue(platform, body, Object.values(kept.secrets));
  if (clean === null) throw new PawlError('invalid_input', 'The body is nested too deep.');
  return JSON.stringify(kept.restore(clean.value));
}

type HandedOver = { secrets: Record<string, string>; restore(clean: unknown): unknown };

/** The credentials in a person's request, and how to restore them after masking. */
function handedOver(context: Context<DoorVariables>, platform: SessionPlatform, body: unknown): HandedOver {
  const nothing: HandedOver = { secrets: {}, restore: (clean) => clean };
  const field = credentials.get(context.req.path);
  if (field === undefined || context.get('caller').kind !== 'person' || !isRecord(body)) return nothing;
  const given = body[field];
  if (typeof given === 'string')
    return { secrets: { [field]: given }, restore: (clean) => ({ ...(clean as object), [field]: given }) };
  if (!isRecord(given)) return nothing;
  const names = new Set(platform.providers.list().flatMap(({ variables }) => variables.secrets));
  const secrets = Object.fromEntries(
    Object.entries(given).filter(
      (entry): entry is [string, string] => names.has(entry[0]) && typeof entry[1] === 'string',
    ),
  );
  return {
    secrets,
    restore: (clean) => {
      const { [field]: others, ...rest } = clean as Record<string, unknown>;
      return { ...rest, [field]: { ...(others as object), ...secrets } };
    },
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Refuses a secret in a URL or an idempotency key, since those are names and are kept. */
function refuseSecretWords(context: Context, platform: SessionPlatform): void {
  const words = [decoded(context.req.url), context.req.header('idempotency-key') ?? ''].join('\n');
  if (redact(platform, words) === words) return;
  throw new PawlError('invalid_input', 'The URL of the request contains a secret.', {
    hint: 'Name the agent, change or task instead.',
  });
}

function decoded(url: string): string {
  try {
    return decodeURIComponent(url);
  } catch {
    return url;
  }
}

/** Reads the body up to the limit, also if its length is not given. */
async function readBody(context: Context): Promise<string> {
  const { raw } = context.req;
  if (context.req.header('content-length') !== undefined) return raw.text();
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of raw.body ?? []) {
    bytes += part.length;
    if (bytes <= limits.bodyBytes) parts.push(part);
    // A client that is still sending does not read a refusal, so read a little more and drop it.
    else if (bytes > 4 * limits.bodyBytes) break;
  }
  if (bytes > limits.bodyBytes) throw tooLarge();
  return Buffer.concat(parts).toString('utf8');
}
