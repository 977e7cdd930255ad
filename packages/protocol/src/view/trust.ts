import { nameSchema } from '@pawl/schema/id';
import * as z from 'zod';

const pathSchema = z
  .string()
  .min(1)
  .max(4096)
  .refine((text) => !text.includes('\0'), 'must not contain a NUL character');

export const trustQuerySchema = z.object({ path: pathSchema });

/** Trusts what is there now, or, with `shown`, only if that is what a person has seen. */
export const trustBodySchema = z.object({
  path: pathSchema,
  revoke: z.boolean().optional(),
  shown: z
    .array(z.object({ path: z.string().max(4096), sha256: z.string().length(64) }))
    .max(2_000)
    .optional(),
});
export type TrustBody = z.infer<typeof trustBodySchema>;

/** A repository's files that need a person's trust. */
export const trustListSchema = z.object({
  project: nameSchema,
  root: z.string(),
  files: z.array(
    z.object({
      path: z.string(),
      kind: z.enum(['definition', 'settings']),
      /** Null when it cannot be judged; `reason` says why. */
      sha256: z.string().nullable(),
      trusted: z.boolean(),
      reason: z.string().nullable(),
      /** The providers that would read it. */
      providers: z.array(z.string()),
      /** What it would run, allow or contact, as lines. */
      does: z.array(z.string()),
    }),
  ),
});
export type TrustList = z.infer<typeof trustListSchema>;
