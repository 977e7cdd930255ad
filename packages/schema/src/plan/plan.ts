import * as z from 'zod';
import { idSchema, nameSchema } from '../id.ts';
import type { Task } from '../record.ts';
import { budgetSchema, taskPriorities, timeSchema } from '../record.ts';

/** `review` stops after each phase until a person has approved it; `auto` continues. */
export const planModes = ['review', 'auto'] as const;

export const initiativeStates = [
  'draft',
  'planned',
  'approved',
  'working',
  'in_review',
  'completed',
  'archived',
] as const;
export type InitiativeState = (typeof initiativeStates)[number];

/** How agents for the tasks of a plan are started. */
const launchSchema = z.object({
  definition: nameSchema.nullable(),
  provider: nameSchema.nullable(),
  model: z.string().nullable(),
  options: z.record(z.string(), z.string()),
  /** The account of its agents; that of a shell has no name to choose it by. */
  accountId: z.string().nullable().default(null),
  /** Variables for the coding CLI from the shell of the person; secrets are in an account instead. */
  environment: z.record(z.string(), z.string()).default({}),
  /** Agents of this plan that work at the same time. */
  agents: z.number().int().positive(),
});

export type Launch = z.infer<typeof launchSchema>;

/** A wish and its plan. Its state is derived. */
export const initiativeSchema = z.object({
  id: idSchema,
  projectId: idSchema,
  name: z.string(),
  mode: z.enum(planModes),
  /** Limits over all agents of the plan. */
  budget: budgetSchema,
  /** The agent that requested it; null for a person. */
  createdBy: idSchema.nullable(),
  createdAt: timeSchema,
  /** The approved version: it runs while the content still has its hash. */
  approvedVersion: z.number().int().positive().nullable(),
  approvedAt: timeSchema.nullable(),
  launch: launchSchema.nullable(),
  launchedAt: timeSchema.nullable(),
  pausedAt: timeSchema.nullable(),
  archivedAt: timeSchema.nullable(),
  /** Its own branch, which collects its work until it lands; null if each task lands by itself. */
  branch: z.string().nullable(),
});
export type Initiative = z.infer<typeof initiativeSchema>;

/** A document of an initiative, in markdown. The first one holds the wish. */
export const pageSchema = z.object({
  id: idSchema,
  initiativeId: idSchema,
  parentId: idSchema.nullable(),
  title: z.string(),
  text: z.string(),
});
export type Page = z.infer<typeof pageSchema>;

export const decisionSchema = z.object({
  id: idSchema,
  initiativeId: idSchema,
  topic: z.string(),
  decision: z.string(),
  text: z.string(),
});
export type Decision = z.infer<typeof decisionSchema>;

/** The commits by which the work of a task came to its branch: `to` is the first commit that has it. */
export const phaseWorkSchema = z.object({ taskId: idSchema, from: z.string(), to: z.string() });
export type PhaseWork = z.infer<typeof phaseWorkSchema>;

/** A group of tasks that starts when the phases before it are completed. */
export const phaseSchema = z.object({
  id: idSchema,
  initiativeId: idSchema,
  name: z.string(),
  text: z.string(),
  /** Globs that it owns. */
  files: z.array(z.string()),
  dependsOn: z.array(idSchema),
  /** It joins phases that nothing else follows. */
  isIntegration: z.boolean(),
  /** When a person approved its result. */
  approvedAt: timeSchema.nullable(),
  /** The work that was approved; null before. */
  reviewed: z.array(phaseWorkSchema).nullable(),
});
export type Phase = z.infer<typeof phaseSchema>;

/** The parts of a plan that an approval covers, with every page, decision, phase and task. */
export type PlanContent = {
  pages: Page[];
  decisions: Decision[];
  phases: Phase[];
  tasks: Task[];
};

/** A place in a file, by its content: the line, and the lines around it. */
const anchorSchema = z.object({
  path: z.string(),
  /** Where the line was, from 1. */
  line: z.number().int().positive(),
  text: z.string(),
  before: z.array(z.string()),
  after: z.array(z.string()),
});
export type Anchor = z.infer<typeof anchorSchema>;

/** A comment in the review of a phase, and its author's answer. */
export const reviewThreadSchema = z.object({
  id: idSchema,
  initiativeId: idSchema,
  phaseId: idSchema,
  /** Null for a comment on the phase as a whole. */
  anchor: anchorSchema.nullable(),
  body: z.string(),
  createdAt: timeSchema,
  /** The task that has to answer it; null until changes are requested. */
  revisionId: idSchema.nullable(),
  answer: z.string().nullable(),
  answeredAt: timeSchema.nullable(),
  /** The agent that answered; null for a person. */
  answeredBy: idSchema.nullable(),
  /** When a person closed it. */
  resolvedAt: timeSchema.nullable(),
});
export type ReviewThread = z.infer<typeof reviewThreadSchema>;

/** One state of a plan's content: `hash` is that of its canonical text. */
export const planVersionSchema = z.object({
  initiativeId: idSchema,
  number: z.number().int().positive(),
  hash: z.string(),
  /** The tasks that it contains. */
  taskIds: z.array(idSchema),
  createdAt: timeSchema,
  createdBy: z.string(),
});
export type PlanVersion = z.infer<typeof planVersionSchema>;

const planKinds = ['page', 'decision', 'phase', 'task'] as const;
export type PlanKind = (typeof planKinds)[number];

/** One change of a plan: the whole new record, or its removal. */
export const planItemSchema = z.object({
  kind: z.enum(planKinds),
  action: z.enum(['create', 'update', 'delete']),
  id: idSchema,
  /** The name of a phase or task, the title of a page, the topic of a decision. */
  name: z.string(),
  text: z.string(),
  /** The sentence of a decision. */
  decision: z.string().default(''),
  /** The page above a page, or the phase of a task. */
  parentId: idSchema.nullable().default(null),
  dependsOn: z.array(idSchema).default([]),
  ifFailed: z.array(idSchema).default([]),
  files: z.array(z.string()).default([]),
  priority: z.enum(taskPriorities).default('medium'),
  isIntegration: z.boolean().default(false),
});
export type PlanItem = z.infer<typeof planItemSchema>;

/** A record before and after a proposal was accepted; null where there was none. */
const planUndoSchema = z.object({
  kind: z.enum(planKinds),
  id: idSchema,
  before: z.unknown(),
  after: z.unknown(),
});
export type PlanUndo = z.infer<typeof planUndoSchema>;

/** A change of a plan that an agent proposes. Nothing of it exists before it is accepted. */
export const proposalSchema = z.object({
  id: idSchema,
  projectId: idSchema,
  /** Null until it is accepted, if its agent worked for no initiative. */
  initiativeId: idSchema.nullable(),
  agentId: idSchema.nullable(),
  mode: z.string(),
  summary: z.string(),
  items: z.array(planItemSchema),
  /** Why the output cannot be accepted; empty if it can. */
  complaints: z.array(z.string()),
  createdAt: timeSchema,
  acceptedAt: timeSchema.nullable(),
  /** The accepted items, and what they replaced. */
  undo: z.array(planUndoSchema).nullable(),
  dismissedAt: timeSchema.nullable(),
  dismissReason: z.string().nullable(),
  revertedAt: timeSchema.nullable(),
  /** Decided last by `person`, or by an agent: its alias. */
  decidedBy: z.string().nullable(),
});
export type Proposal = z.infer<typeof proposalSchema>;
