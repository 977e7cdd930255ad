import * as z from 'zod';

/** The other agents in a project. */
export const rosterViewSchema = z.object({
  /** Null: none was found, but there may be some. */
  alone: z.boolean().nullable(),
  others: z.array(
    z.object({
      pid: z.number().int(),
      cwd: z.string(),
      provider: z.string(),
      /** Milliseconds since 1970; null if unknown. */
      startedAt: z.number().nullable(),
      /** Its name, if known: an agent's id, or a name of its own. */
      agentId: z.string().nullable(),
    }),
  ),
  /** Processes that could not be read, so that each may be an agent. */
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
