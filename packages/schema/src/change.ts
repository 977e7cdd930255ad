import * as z from 'zod';
import { idSchema } from './id.ts';
import { timeSchema } from './record.ts';

export const changeStates = [
  'open',
  'queued',
  'testing',
  'green',
  'ready',
  'blocked',
  'needs-human-input',
  'merged',
  'ejected',
  'closed',
] as const;
export type ChangeState = (typeof changeStates)[number];

/** How a change becomes commits of the target branch. */
export const mergeMethods = ['squash', 'merge', 'rebase'] as const;
export type MergeMethod = (typeof mergeMethods)[number];

/**
 * Why a change waits for a person: it weakens the gate, or restores commits that were removed from the target branch.
 */
const findingKinds = [
  'fewer-tests',
  'more-skips',
  'skip-added',
  'check-edited',
  'tests-unreadable',
  'fewer-assertions',
  'test-emptied',
  'failure-dropped',
  'test-replaced',
  'commits-dropped',
] as const;
export const findingSchema = z.object({
  kind: z.enum(findingKinds),
  detail: z.string(),
  /** The number of tests concerned. */
  tests: z.number().int().optional(),
});
export type Finding = z.infer<typeof findingSchema>;

/** Why the queue ejected a change. */
export const ejectionSchema = z.object({
  kind: z.enum(['conflict', 'red']),
  reason: z.string(),
  /** Files in conflict. */
  files: z.array(z.string()),
  /** The failed check. */
  checkId: idSchema.nullable(),
  /** The ejected head; a new head is not affected. */
  head: z.string(),
  at: timeSchema,
});
export type Ejection = z.infer<typeof ejectionSchema>;

/** A branch proposed for the target branch. Its state is derived (`changeState` in core). */
export const changeSchema = z.object({
  id: idSchema,
  projectId: idSchema,
  /** The agent that made it or took it over; null for a person. */
  agentId: idSchema.nullable(),
  /** The agent that opened it, even after a stand-in took over; null for a person. */
  authorId: idSchema.nullable(),
  taskId: idSchema.nullable(),
  branch: z.string(),
  /** The proposed commit. Later commits of the branch do not count until they are proposed as well. */
  head: z.string(),
  /** The commit at which the branch started. */
  base: z.string(),
  title: z.string(),
  summary: z.string(),
  openedAt: timeSchema,
  /** Its position in the queue; null for a draft. */
  queuedAt: timeSchema.nullable(),
  /** When a retry was requested: earlier failures do not count. */
  retriedAt: timeSchema.nullable(),
  /** It is checked alone, to see its effect on the number of tests. */
  isolatedAt: timeSchema.nullable(),
  /** Blocked, with the reason. */
  hold: z.object({ reason: z.string(), by: z.string(), at: timeSchema }).nullable(),
  /** How this head weakens the gate, as far as known. */
  findings: z.array(findingSchema),
  /** The head whose findings a person has accepted. */
  approvedHead: z.string().nullable(),
  ejection: ejectionSchema.nullable(),
  /** The last head examined for its effect on the gate. */
  examinedHead: z.string().nullable(),
  /** The reviewed head, its reviewer, and the number of reviews. */
  reviewedHead: z.string().nullable(),
  reviewerId: idSchema.nullable(),
  reviews: z.number().int().nonnegative(),
  /** The agent that continues it because its author is gone. */
  standInId: idSchema.nullable(),
  /** How often it was returned to be fixed. */
  returns: z.number().int().nonnegative(),
  /** Its id on a forge. */
  forgeRef: z.string().nullable(),
  /** The head that a person asked to merge. */
  askedHead: z.string().nullable(),
  /** The head that passed its checks on the target branch while it could not be merged yet. */
  passedHead: z.string().nullable(),
  mergedAt: timeSchema.nullable(),
  /** Its commit on the target branch. */
  mergedCommit: z.string().nullable(),
  closedAt: timeSchema.nullable(),
  closeReason: z.string().nullable(),
});
export type Change = z.infer<typeof changeSchema>;

/** A comment on a change. A blocking one holds the change until it is addressed. */
export const changeCommentSchema = z.object({
  id: idSchema,
  changeId: idSchema,
  /** Null for a person. */
  agentId: idSchema.nullable(),
  kind: z.enum(['blocking', 'note']),
  body: z.string(),
  /** The head it is about. */
  head: z.string(),
  at: timeSchema,
  addressedAt: timeSchema.nullable(),
  /** How, and by whom. */
  addressed: z.string().nullable(),
});
export type ChangeComment = z.infer<typeof changeCommentSchema>;

/** Test counts of a check, from the runner's summary. `run` excludes skipped tests. */
export const testCountSchema = z.object({
  run: z.number().int().nonnegative(),
  failed: z.number().int().nonnegative(),
  skipped: z.number().int().nonnegative(),
});
export type TestCount = z.infer<typeof testCountSchema>;

/** One command of a check. */
export const checkStepSchema = z.object({
  name: z.string(),
  run: z.string(),
  timeoutMs: z.number().int().positive(),
  /** JUnit files, as patterns below the root. */
  junit: z.array(z.string()),
  /** True if it has the machine's network in a sandbox. */
  network: z.boolean().optional(),
});
export type CheckStep = z.infer<typeof checkStepSchema>;

export const checkOutcomes = ['passed', 'failed', 'cancelled'] as const;

/** The project's checks, run once at one commit. */
export const checkSchema = z.object({
  id: idSchema,
  projectId: idSchema,
  commit: z.string(),
  tree: z.string(),
  /** Identifies the commands: a result counts only for the same tree and commands. */
  plan: z.string(),
  steps: z.array(checkStepSchema),
  /** The changes in the tree beyond the target branch; none for the target branch itself. */
  changes: z.array(idSchema),
  /** The target branch at that time. */
  onto: z.string(),
  plannedAt: timeSchema,
  startedAt: timeSchema.nullable(),
  /** The running or last step. */
  step: z.number().int().nonnegative(),
  stepStartedAt: timeSchema.nullable(),
  pid: z.number().int().nullable(),
  processStart: z.string().nullable(),
  /** Stored bytes of this step's output. */
  outputOffset: z.number().int().nonnegative(),
  outputBytes: z.number().int().nonnegative(),
  endedAt: timeSchema.nullable(),
  outcome: z.enum(checkOutcomes).nullable(),
  exitCode: z.number().int().nullable(),
  /** The result, in words. */
  detail: z.string().nullable(),
  counts: testCountSchema.nullable(),
});
export type Check = z.infer<typeof checkSchema>;

/** Main is red: only its repair is merged. */
export const emergencySchema = z.object({
  commit: z.string(),
  checkId: idSchema,
  since: timeSchema,
  /** The agent that repairs it; null until one was started. */
  fixerId: idSchema.nullable(),
  /** Why no agent could be started for that; null if none failed to. */
  trouble: z.string().nullable().default(null),
});

/** A pending move of the target branch: from, to, and the changes in it. */
export const advanceSchema = z.object({
  from: z.string(),
  to: z.string(),
  checkId: idSchema,
  changes: z.array(z.object({ id: idSchema, head: z.string() })),
  /** The forge's id of the change it was asked to merge; null if we move the branch. */
  forgeRef: z.string().nullable().default(null),
});

export const queueWaitSchema = z.object({
  reason: z.string(),
  changes: z.array(idSchema),
  /** The next steps for a person. */
  hint: z.string().nullable().default(null),
  /** Since when it waits for this reason; null in data of an earlier release. */
  since: timeSchema.nullable().default(null),
});

/** The merge queue of a project: its state besides changes and checks. */
export const queueSchema = z.object({
  projectId: idSchema,
  /** The branch that moves only to checked commits. */
  branch: z.string(),
  /** The last commit seen, and the last known green one. */
  seen: z.string().nullable(),
  green: z.string().nullable(),
  /** Test counts of the last green commit. */
  counts: testCountSchema.nullable(),
  emergency: emergencySchema.nullable(),
  pausedAt: timeSchema.nullable(),
  /** A green result that cannot be merged yet: why, and its changes. */
  waiting: queueWaitSchema.nullable(),
  advance: advanceSchema.nullable(),
  /** When the queue first saw that the local and remote branch have diverged; null while they have not. */
  divergedAt: timeSchema.nullable(),
  beganAt: timeSchema,
});
export type Queue = z.infer<typeof queueSchema>;

/** An agent's commits that are not proposed, because its definition has no Patch. */
export type WithheldWork = {
  agentId: string;
  projectId: string;
  branch: string;
  head: string;
  /** The definition without Patch. */
  definition: string;
  at: number;
};
