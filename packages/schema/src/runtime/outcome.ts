import * as z from 'zod';

const texts = z.array(z.string().min(1).max(2_000)).max(50);

/** The outcome of an autonomous turn: a task for another agent, commits of its own, or neither. */
export const outcomeSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('task'),
    title: z.string().min(1).max(300),
    user_stories: texts.default([]),
    acceptance_criteria: texts.default([]),
  }),
  z.object({ type: z.literal('patch'), title: z.string().max(300).default('') }),
  z.object({ type: z.literal('none') }),
]);
export type Outcome = z.infer<typeof outcomeSchema>;

/** The action of a policy that each outcome needs. */
export const outcomeActions = { task: 'Finalize', patch: 'Patch', none: null } as const;
