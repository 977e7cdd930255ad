import { idSchema, nameSchema } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import * as z from 'zod';

/** A command argument: no system allows a NUL in one. */
export const word = (characters: number) =>
  z
    .string()
    .min(1)
    .max(characters)
    .refine((text) => !text.includes('\0'), 'must not contain a NUL character');

/** A path. */
export const path = word(4096);

/** The PATH of the requesting shell, where coding agents' programs are looked up instead of the daemon's. */
export const searchPath = word(limits.searchPathCharacters).optional();

/** An agent by its id and name. */
export const agentNamed = z.object({ id: idSchema, alias: nameSchema });

/** A project by its id and name. */
export const projectNamed = z.object({ id: idSchema, name: nameSchema });

/** A diff: its files and the patch. */
export const diffFields = {
  files: z.array(
    z.object({
      path: z.string(),
      from: z.string().nullable(),
      added: z.number().int().nullable(),
      removed: z.number().int().nullable(),
    }),
  ),
  patch: z.string(),
  /** The diff was cut. */
  truncated: z.boolean(),
};
