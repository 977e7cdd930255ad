import * as z from 'zod';
import { idSchema } from '../id.ts';
import { timeSchema } from '../record.ts';

export const webLimits = {
  /** How long a code may be exchanged for a session, and how long its second use is still recognised. */
  codeMs: 30_000,
  usedCodeMs: 10 * 60_000,
  /** Codes at the same time. */
  codes: 32,
  sessionMs: 30 * 24 * 3_600_000,
  /** How often the use of a session is noted. */
  usedEveryMs: 60_000,
  /** Sessions in a list. */
  listed: 200,
  browserCharacters: 200,
} as const;

/** A browser that may act as the person. The secrets themselves are not stored. */
export const webSessionSchema = z.object({
  id: idSchema,
  /** Keyed hash of the cookie's secret and the page's key. */
  proof: z.string(),
  /** The browser's own description; foreign text. */
  browser: z.string(),
  createdAt: timeSchema,
  usedAt: timeSchema,
  expiresAt: timeSchema,
  revokedAt: timeSchema.nullable(),
});
export type WebSession = z.infer<typeof webSessionSchema>;
