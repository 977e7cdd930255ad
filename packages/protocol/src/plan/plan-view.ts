import { idSchema, nameSchema } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import {
  decisionSchema,
  initiativeSchema,
  initiativeStates,
  pageSchema,
  phaseSchema,
  planModes,
} from '@pawl/schema/plan/plan';
import { budgetSchema, taskStates, usageSchema } from '@pawl/schema/record';
import * as z from 'zod';
import { path, projectNamed, searchPath, word } from '../fields.ts';
import { taskViewSchema } from './view.ts';

const text = z.string().max(limits.taskBytes);
const name = z.string().trim().min(1).max(limits.taskNameCharacters);
/** Limits over all agents of a plan. */
const budget = z.strictObject(budgetSchema.pick({ tokens: true, turns: true, usd: true }).partial().shape);

export const newPlanSchema = z.object({
  /** Any path inside the project. */
  path,
  /** By default the first line of the text. */
  name: name.optional(),
  /** The wish, in markdown. */
  text: text.min(1),
  mode: z.enum(planModes).optional(),
  budget: budget.optional(),
  /** Collect its work on a branch of its own, which lands as one change. */
  branch: z.boolean().optional(),
});
export type NewPlanBody = z.infer<typeof newPlanSchema>;

export const editPlanSchema = z.object({
  name: name.optional(),
  mode: z.enum(planModes).optional(),
  budget: budget.optional(),
  /** A page to write: a new one without `id`. */
  page: z
    .object({
      id: z.string().min(1).max(200).optional(),
      title: name.optional(),
      text: text.optional(),
      parent: z.string().min(1).max(200).optional(),
    })
    .optional(),
});
export type EditPlanBody = z.infer<typeof editPlanSchema>;

export const revertPlanSchema = z.object({
  /** Only the work of this phase or task, by id or name; by default all of it. */
  of: z.string().min(1).max(1_000).optional(),
});
export type RevertPlanBody = z.infer<typeof revertPlanSchema>;

export const approvePlanSchema = z.object({
  /** The hash that the person looked at, or its start; another content is a conflict. */
  hash: z.string().min(6).max(64).optional(),
  acceptWarnings: z.boolean().optional(),
});
export type ApprovePlanBody = z.infer<typeof approvePlanSchema>;

/** How agents for its tasks are started. */
export const launchPlanSchema = z.object({
  definition: nameSchema.optional(),
  provider: nameSchema.optional(),
  model: z.string().min(1).max(200).optional(),
  options: z.record(z.string().max(64), path).optional(),
  account: nameSchema.optional(),
  /** Variables of the person's shell for coding CLIs, and its PATH. */
  environment: z.record(z.string().max(128), word(8192)).optional(),
  searchPath,
  /** Agents that work at the same time. */
  agents: z.number().int().min(1).max(1_000).optional(),
});
export type LaunchPlanBody = z.infer<typeof launchPlanSchema>;

/** A plan with the state that is derived from its facts now. */
export const planViewSchema = initiativeSchema.extend({
  state: z.enum(initiativeStates),
  /** Why it does not continue; otherwise empty. */
  detail: z.string(),
  project: projectNamed.nullable(),
  /** The hash of its content: an approval names it. */
  hash: z.string(),
  /** The usage of all its agents, architects included. */
  spent: usageSchema,
  counts: z.object({ phases: z.number().int(), tasks: z.number().int(), settled: z.number().int() }),
});
export type PlanView = z.infer<typeof planViewSchema>;

export const planListSchema = z.object({ plans: z.array(planViewSchema) });
export type PlanList = z.infer<typeof planListSchema>;

/** The result of looking at a plan as a whole. */
const stageSchema = z.object({
  errors: z.array(z.string()),
  warnings: z.array(z.string()),
  /** Ids of tasks that can start together, in their order. */
  waves: z.array(z.array(idSchema)),
});

export const planDetailSchema = z.object({
  plan: planViewSchema,
  pages: z.array(pageSchema),
  decisions: z.array(decisionSchema),
  phases: z.array(phaseSchema.extend({ state: z.enum(taskStates), detail: z.string() })),
  tasks: z.array(taskViewSchema.extend({ spent: usageSchema.nullable() })),
  stage: stageSchema,
});
export type PlanDetail = z.infer<typeof planDetailSchema>;

/** A plan, and the changes that land or revert its work. */
export const planLandingSchema = z.object({
  planId: idSchema,
  changes: z.array(z.object({ id: idSchema, title: z.string(), branch: z.string() })),
});
export type PlanLanding = z.infer<typeof planLandingSchema>;

export const planListQuerySchema = z.object({
  path: path.optional(),
  /** Includes archived ones. */
  all: z.enum(['true', 'false']).optional(),
});
