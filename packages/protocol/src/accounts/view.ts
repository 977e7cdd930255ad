import { nameSchema } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import { accountSchema, timeSchema } from '@pawl/schema/record';
import * as z from 'zod';

/** Printable characters of one line: keys, tokens, and logins as JSON. */
const secretSchema = z.string().regex(/^[ -~]{1,16384}$/, 'a secret is one line of 1 to 16384 printable characters');

/** The server of a key. A secret belongs into the key, not into the URL. */
const baseUrlSchema = z
  .string()
  .max(2_000)
  .refine((text) => {
    const url = URL.parse(text);
    return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  }, 'a base URL begins with http:// or https:// and has no password in it');

/** Credentials from a person. They travel in a request body, never in a URL. */
export const addAccountSchema = z.object({
  provider: nameSchema,
  name: nameSchema.optional(),
  kind: z.enum(['api-key', 'token', 'directory']),
  /** The key or the token. */
  secret: secretSchema.optional(),
  /** The config directory of a CLI to copy. */
  from: z
    .string()
    .min(1)
    .max(4096)
    .refine((path) => path.startsWith('/') && !path.includes('\0'), 'an absolute path')
    .optional(),
  email: z.string().max(320).optional(),
  baseUrl: baseUrlSchema.optional(),
  /** Sessions get its key itself. */
  noProxy: z.boolean().optional(),
});
export type AddAccountBody = z.infer<typeof addAccountSchema>;

/** An account for display: never contains a secret. */
export const accountViewSchema = accountSchema
  .pick({
    id: true,
    provider: true,
    name: true,
    kind: true,
    email: true,
    baseUrl: true,
    keyProxy: true,
    createdAt: true,
    lastUsedAt: true,
    invalidReason: true,
  })
  .extend({
    /** When a usage limit ends; null if there is none now. */
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

/** `created` is false if the same credentials were already stored. */
export const accountAddedSchema = accountAnswerSchema.extend({ created: z.boolean() });
export type AccountAdded = z.infer<typeof accountAddedSchema>;

export const useAccountSchema = z.object({
  /** Clears a recorded limit or rejection. */
  clear: z.boolean().optional(),
});

/** The PATH of the requesting shell, where the provider's program is looked up. */
export const testAccountSchema = z.object({ searchPath: z.string().max(limits.searchPathCharacters).optional() });

/** A model of the engine, by its name or as `VENDOR/MODEL`. */
export const testModelSchema = testAccountSchema.extend({
  model: z.string().min(1).max(200),
  account: z.string().min(1).max(64).optional(),
});
export type TestModelBody = z.infer<typeof testModelSchema>;

export const modelTestSchema = z.object({
  model: z.string(),
  account: z.string().nullable(),
  ok: z.boolean(),
  text: z.string(),
  tookMs: z.number().int().nonnegative(),
});
export type ModelTest = z.infer<typeof modelTestSchema>;

export const accountTestSchema = accountAnswerSchema.extend({
  ok: z.boolean(),
  /** The CLI's output. */
  text: z.string(),
  limitedUntil: timeSchema.nullable(),
  tookMs: z.number().int().nonnegative(),
});
export type AccountTest = z.infer<typeof accountTestSchema>;
