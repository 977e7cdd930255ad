import { nameSchema } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import { accountSchema, timeSchema } from '@pawl/schema/record';
import * as z from 'zod';

/** Printable characters of one line: what keys and tokens, and logins as JSON, are made of. */
const secretSchema = z.string().regex(/^[ -~]{1,16384}$/, 'a secret is one line of 1 to 16384 printable characters');

/** Which server a key is for. Who has it, and nobody else, is told in the key: not in the address. */
const baseUrlSchema = z
  .string()
  .max(2_000)
  .refine((text) => {
    const url = URL.parse(text);
    return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  }, 'a base URL begins with http:// or https:// and has no password in it');

/** Credentials that a person gives. They travel in the body of a request to the daemon, never in an address. */
export const addAccountSchema = z.object({
  provider: nameSchema,
  name: nameSchema.optional(),
  kind: z.enum(['api-key', 'token', 'directory']),
  /** The key or the token. */
  secret: secretSchema.optional(),
  /** The config directory of a CLI that is copied. */
  from: z
    .string()
    .min(1)
    .max(4096)
    .refine((path) => path.startsWith('/') && !path.includes('\0'), 'an absolute path')
    .optional(),
  email: z.string().max(320).optional(),
  baseUrl: baseUrlSchema.optional(),
});
export type AddAccountBody = z.infer<typeof addAccountSchema>;

/** An account as people see it: no secret is ever in it. */
export const accountViewSchema = accountSchema
  .pick({
    id: true,
    provider: true,
    name: true,
    kind: true,
    email: true,
    baseUrl: true,
    createdAt: true,
    lastUsedAt: true,
    invalidReason: true,
  })
  .extend({
    /** Until when a usage limit holds; null when none does now. */
    exhaustedUntil: timeSchema.nullable(),
    /** The last four characters of its secret, to tell accounts apart. */
    fingerprint: z.string().max(4).nullable(),
    /** New agents of its provider use it. */
    isDefault: z.boolean(),
    credential: z.discriminatedUnion('state', [
      z.object({ state: z.literal('valid'), expiresAt: timeSchema.nullable() }),
      z.object({ state: z.literal('refreshable'), expiresAt: timeSchema }),
      z.object({ state: z.literal('invalid'), error: z.string() }),
      z.object({ state: z.literal('unknown') }),
    ]),
  });
export type AccountView = z.infer<typeof accountViewSchema>;

export const accountListSchema = z.object({ accounts: z.array(accountViewSchema) });
export type AccountList = z.infer<typeof accountListSchema>;
export const accountAnswerSchema = z.object({ account: accountViewSchema });
export type AccountAnswer = z.infer<typeof accountAnswerSchema>;
/** `created` is false when the same credentials were kept already. */
export const accountAddedSchema = accountAnswerSchema.extend({ created: z.boolean() });
export type AccountAdded = z.infer<typeof accountAddedSchema>;
export const useAccountSchema = z.object({
  /** Forgets that it reached a limit, or was not accepted. */
  clear: z.boolean().optional(),
});
/** The PATH of the shell that asks, where the provider's program is looked up. */
export const testAccountSchema = z.object({ searchPath: z.string().max(limits.searchPathCharacters).optional() });
export const accountTestSchema = accountAnswerSchema.extend({
  ok: z.boolean(),
  /** What the CLI said. */
  text: z.string(),
  limitedUntil: timeSchema.nullable(),
  tookMs: z.number().int().nonnegative(),
});
export type AccountTest = z.infer<typeof accountTestSchema>;
