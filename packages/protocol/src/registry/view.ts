import { idSchema, nameSchema } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import * as z from 'zod';
import { agentViewSchema } from '../agents/view.ts';

/** A person's selection: the agent that they act as, its neighbours, and the unsent text for it. */
const neighbourSchema = z.object({ id: idSchema, alias: nameSchema }).nullable();

export const selectionSchema = z.object({
  current: agentViewSchema,
  parent: neighbourSchema,
  previous: neighbourSchema,
  next: neighbourSchema,
  child: neighbourSchema,
  draft: z.object({ input: z.string(), scroll: z.number().int().nonnegative() }),
});
export type Selection = z.infer<typeof selectionSchema>;

export const switchSchema = z.object({
  /** An agent, or one of `parent`, `child`, `next`, `previous`; absent stays, and only keeps the draft. */
  to: z.string().min(1).max(128).optional(),
  /** The unsent text for the agent that the person switches away from. */
  draft: z.object({ input: z.string().max(limits.draftCharacters), scroll: z.number().int().nonnegative() }).optional(),
});
export type SwitchBody = z.infer<typeof switchSchema>;
