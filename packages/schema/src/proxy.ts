import * as z from 'zod';
import { idSchema } from './id.ts';

/** The version of the files below. A daemon and a proxy of different releases may share a home. */
export const grantFormat = 1;

const hosts = z.array(z.string().min(1).max(300)).max(4_000);

/**
 * Access of one session through the proxy: a private file that the daemon writes before the session starts, and
 * removes when it has ended. It names the file of the key and does not contain it.
 */
export const grantSchema = z.object({
  format: z.literal(grantFormat),
  sessionId: idSchema,
  /** The SHA-256 of the session's token, in hex. */
  tokenHash: z.string().regex(/^[0-9a-f]{64}$/),
  /** The session's own directory. A session with an exit code in it has ended. */
  directory: z.string().min(1),
  /**
   * The server that the session's model calls go to, and its key. Null: the session calls no model through the proxy.
   */
  upstream: z
    .object({ baseUrl: z.url({ protocol: /^https?$/ }), secretFile: z.string().min(1), variable: z.string().min(1) })
    .nullable(),
  /** How many tokens the session may use; null without a limit. */
  tokens: z.number().int().nonnegative().nullable(),
  /**
   * The hosts that the session may reach, except those in `deny`; null if it must not use the proxy for that. Those in
   * `own` are a person's own servers, which may have private addresses.
   */
  network: z.object({ allow: hosts, deny: hosts, own: hosts.optional() }).nullable(),
});
export type Grant = z.infer<typeof grantSchema>;

/** The secret of an account on disk: values by the names of their variables. */
export const secretFileSchema = z.object({ env: z.record(z.string(), z.string()) });

/** Process and address of a home's proxy, written by the proxy that holds the lock. */
export const proxyFileSchema = z.object({
  pid: z.number().int().positive(),
  port: z.number().int().min(1).max(65_535),
  version: z.string(),
});

const count = z.number().int().nonnegative();

/** One line of a session's proxy record, which is only appended to. */
export const proxyLineSchema = z.discriminatedUnion('type', [
  /** All tokens of the session so far. */
  z.object({ type: z.literal('usage'), input: count, cached: count, output: count, calls: count }),
  /**
   * The provider refused a call for its limit: when, when that ends (milliseconds since 1970, or null), and how many
   * calls in a row were refused.
   */
  z.object({
    type: z.literal('limit'),
    status: count,
    at: z.number(),
    until: z.number().nullable(),
    inARow: count,
  }),
  /** The proxy refused a call because the budget is used up. */
  z.object({ type: z.literal('budget'), used: count, tokens: count }),
  /** The proxy refused to connect to a host; once per name. */
  z.object({ type: z.literal('network'), host: z.string().max(300), port: count, reason: z.string().max(300) }),
]);
export type ProxyLine = z.infer<typeof proxyLineSchema>;

/**
 * Why the proxy refuses a host that no entry of the list covers: the one reason that a person can remove by an answer.
 */
export const notListed = 'it is not in the list of allowed hosts';

/** The name of a session's proxy record in its directory. */
export const proxyRecordName = 'proxy.ndjson';

const tokenPattern = /^pawl-([A-Za-z0-9][A-Za-z0-9_-]{21})-[A-Za-z0-9_-]{43}$/;

/** The session that a token names; null if the text is no such token. */
export function sessionOfToken(token: string): string | null {
  return tokenPattern.exec(token)?.[1] ?? null;
}

/** A session's token from 256 random bits in base64url. */
export function sessionToken(sessionId: string, secret: string): string {
  return `pawl-${sessionId}-${secret}`;
}
