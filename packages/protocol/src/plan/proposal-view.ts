import { idSchema } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import { proposalSchema } from '@pawl/schema/plan/plan';
import * as z from 'zod';
import { agentNamed, path } from '../fields.ts';

const proposalStates = ['open', 'refused', 'accepted', 'dismissed', 'reverted'] as const;

/** A proposal with the state that is derived from its facts now. */
export const proposalViewSchema = proposalSchema.omit({ undo: true }).extend({
  /** `refused`: its agent left output that cannot be used; `complaints` say why. */
  state: z.enum(proposalStates),
  agent: agentNamed.nullable(),
  plan: z.object({ id: idSchema, name: z.string() }).nullable(),
});
export type ProposalView = z.infer<typeof proposalViewSchema>;

export const proposalListSchema = z.object({ proposals: z.array(proposalViewSchema) });
export type ProposalList = z.infer<typeof proposalListSchema>;

/** A proposal, and why it cannot be accepted now; empty if it can. */
export const proposalAnswerSchema = z.object({ proposal: proposalViewSchema, problems: z.array(z.string()) });
export type ProposalAnswer = z.infer<typeof proposalAnswerSchema>;

export const proposalListQuerySchema = z.object({
  path: path.optional(),
  /** Includes those that are decided. */
  all: z.enum(['true', 'false']).optional(),
});

export const acceptProposalSchema = z.object({
  /** Ids, starts of ids or names of items; all by default. */
  items: z.array(z.string().min(1).max(1_000)).min(1).max(1_000).optional(),
});

export const dismissProposalSchema = z.object({ reason: z.string().max(limits.bodyBytes).optional() });
