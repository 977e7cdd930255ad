import { agentActions, definitionSchema } from '@pawl/schema/definition';
import { nameSchema } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import { lockGlobSchema, pathLockLimits, pathLockSchema } from '@pawl/schema/runtime/path-lock';
import * as z from 'zod';
import { path } from '../fields.ts';

/** Problems and notices about the definitions of a project. */
export const definitionListSchema = z.object({
  definitions: z.array(definitionSchema),
  problems: z.array(z.object({ path: z.string(), line: z.number().int(), reason: z.string() })),
  /** Requests of a repository's file that need a person's trust. */
  notices: z.array(z.object({ path: z.string(), line: z.number().int(), reason: z.string() })),
});
export type DefinitionList = z.infer<typeof definitionListSchema>;

export const trustAnswerSchema = z.object({ project: nameSchema, files: z.array(z.string()) });
export type TrustAnswer = z.infer<typeof trustAnswerSchema>;

/** Whether an agent may use a tool or take an action; asked by a provider's hook. */
export const gateSchema = z.object({
  tool: z.string().min(1).max(200).optional(),
  input: z.string().max(limits.messageCharacters).optional(),
  action: z.enum(agentActions).optional(),
});

export const gateAnswerSchema = z.object({ allowed: z.boolean(), reason: z.string() });
export type GateAnswer = z.infer<typeof gateAnswerSchema>;

/** Which paths to lock, and for how many seconds. */
export const lockBodySchema = z.object({
  globs: z.array(lockGlobSchema).min(1).max(pathLockLimits.globs),
  seconds: z
    .number()
    .int()
    .min(1)
    .max(pathLockLimits.longestMs / 1_000)
    .optional(),
});
export type LockBody = z.infer<typeof lockBodySchema>;

const lockViewSchema = pathLockSchema.omit({ projectId: true }).extend({ owner: z.string() });
export const lockAnswerSchema = z.object({ lock: lockViewSchema });
export type LockAnswer = z.infer<typeof lockAnswerSchema>;
/** The id of another agent’s lock is not shown: it would release the lock. */
export const lockListSchema = z.object({ locks: z.array(lockViewSchema.extend({ id: z.string().nullable() })) });
export type LockList = z.infer<typeof lockListSchema>;
export const unlockAnswerSchema = z.object({ released: z.boolean() });
export type UnlockAnswer = z.infer<typeof unlockAnswerSchema>;

export const trustQuerySchema = z.object({ path: path });

/** Trusts what is there now, or, with `shown`, only if that is what a person has seen. */
export const trustBodySchema = z.object({
  path: path,
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
      kind: z.enum(['definition', 'settings', 'rules']),
      /** Null when it cannot be judged; `reason` says why. */
      sha256: z.string().nullable(),
      trusted: z.boolean(),
      reason: z.string().nullable(),
      /** The providers that would read it. */
      providers: z.array(z.string()),
      /** One line for each program, permission or host that it asks for. */
      does: z.array(z.string()),
    }),
  ),
});
export type TrustList = z.infer<typeof trustListSchema>;
