import * as z from 'zod';

/** Who else is at work in a project. */
export const rosterViewSchema = z.object({
  /** Null: nobody was found, but nobody can say that there is nobody. */
  alone: z.boolean().nullable(),
  others: z.array(
    z.object({
      pid: z.number().int(),
      cwd: z.string(),
      provider: z.string(),
      /** Milliseconds since 1970; null where the system does not say. */
      startedAt: z.number().nullable(),
      /** What it is called, where that is known: an agent's id, or a name of its own. */
      agentId: z.string().nullable(),
    }),
  ),
  /** What could not be seen, and so may be somebody. */
  doubts: z.array(z.string()),
});
/** The process of an agent that asks who it is. */
export const selfBodySchema = z.object({ pid: z.number().int().positive(), start: z.string().min(1).max(200) });

/** The agent of a process that Pawl did not start, and the token with which it acts as itself. */
export const selfViewSchema = z.object({
  agent: z.object({ id: z.string(), alias: z.string() }),
  token: z.string(),
});
export type SelfView = z.infer<typeof selfViewSchema>;

export type RosterView = z.infer<typeof rosterViewSchema>;
