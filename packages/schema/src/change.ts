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

/** Why a change waits for a person: it makes the gate weaker, or brings back what was removed from the target branch. */
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
  /** How many tests it is about. */
  tests: z.number().int().optional(),
});
export type Finding = z.infer<typeof findingSchema>;

/** Why the queue ejected a change. */
export const ejectionSchema = z.object({
  kind: z.enum(['conflict', 'red']),
  reason: z.string(),
  /** Files in which it conflicts. */
  files: z.array(z.string()),
  /** The check that failed with it. */
  checkId: idSchema.nullable(),
  /** The head that was ejected: a change that moves on is not bound by it. */
  head: z.string(),
  at: timeSchema,
});
export type Ejection = z.infer<typeof ejectionSchema>;

/** A branch that somebody proposes for the target branch. Its state is derived (`changeState` in core). */
export const changeSchema = z.object({
  id: idSchema,
  projectId: idSchema,
  /** The agent that made it or took it over; null for a person. */
  agentId: idSchema.nullable(),
  /** The agent that opened it, also after a stand-in took over; null for a person. */
  authorId: idSchema.nullable(),
  taskId: idSchema.nullable(),
  branch: z.string(),
  /** The commit that is proposed. What comes after it on the branch does not count until it is proposed as well. */
  head: z.string(),
  /** Where the branch began. */
  base: z.string(),
  title: z.string(),
  summary: z.string(),
  openedAt: timeSchema,
  /** Its place in the queue, where it is checked; null for a draft. */
  queuedAt: timeSchema.nullable(),
  /** When somebody wished it to be tried again as it is: failures from before do not count against it. */
  retriedAt: timeSchema.nullable(),
  /** It is checked by itself, so that what it does to the number of tests can be seen. */
  isolatedAt: timeSchema.nullable(),
  /** Held by somebody who says why. */
  hold: z.object({ reason: z.string(), by: z.string(), at: timeSchema }).nullable(),
  /** How it weakens the gate, as far as that is known of this head. */
  findings: z.array(findingSchema),
  /** The head whose findings a person has accepted. */
  approvedHead: z.string().nullable(),
  ejection: ejectionSchema.nullable(),
  /** The last head that was looked at for what it does to the gate. */
  examinedHead: z.string().nullable(),
  /** The head that was reviewed, who reviews or has reviewed it, and how many reviews there were. */
  reviewedHead: z.string().nullable(),
  reviewerId: idSchema.nullable(),
  reviews: z.number().int().nonnegative(),
  /** The agent that continues it because its author is gone. */
  standInId: idSchema.nullable(),
  /** How often it went back to be put right. */
  returns: z.number().int().nonnegative(),
  /** What a forge calls it. */
  forgeRef: z.string().nullable(),
  /** The head that a person asked to merge. */
  askedHead: z.string().nullable(),
  /** The head that passed its checks on top of the target branch while it could not be merged yet. */
  passedHead: z.string().nullable(),
  mergedAt: timeSchema.nullable(),
  /** The commit by which the target branch has it. */
  mergedCommit: z.string().nullable(),
  closedAt: timeSchema.nullable(),
  closeReason: z.string().nullable(),
});
export type Change = z.infer<typeof changeSchema>;

/** What somebody said about a change. One that blocks holds the change until it is addressed. */
export const changeCommentSchema = z.object({
  id: idSchema,
  changeId: idSchema,
  /** Null for a person. */
  agentId: idSchema.nullable(),
  kind: z.enum(['blocking', 'note']),
  body: z.string(),
  /** The head that it is about. */
  head: z.string(),
  at: timeSchema,
  addressedAt: timeSchema.nullable(),
  /** How, and by whom. */
  addressed: z.string().nullable(),
});
export type ChangeComment = z.infer<typeof changeCommentSchema>;

/** How many tests a check ran, by the closing words of the runner. `run` is without those that were skipped. */
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
  /** Where it leaves JUnit files, as patterns below the root. */
  junit: z.array(z.string()),
});
export type CheckStep = z.infer<typeof checkStepSchema>;

export const checkOutcomes = ['passed', 'failed', 'cancelled'] as const;

/** The project's checks, run once at one commit. */
export const checkSchema = z.object({
  id: idSchema,
  projectId: idSchema,
  commit: z.string(),
  tree: z.string(),
  /** Names the commands: a result counts for the same tree and the same commands only. */
  plan: z.string(),
  steps: z.array(checkStepSchema),
  /** The changes that the tree has beyond the target branch; none of them for the target branch itself. */
  changes: z.array(idSchema),
  /** The target branch as it was. */
  onto: z.string(),
  plannedAt: timeSchema,
  startedAt: timeSchema.nullable(),
  /** Which of the steps runs, or ran last. */
  step: z.number().int().nonnegative(),
  stepStartedAt: timeSchema.nullable(),
  pid: z.number().int().nullable(),
  processStart: z.string().nullable(),
  /** Bytes of output of this step that are stored. */
  outputOffset: z.number().int().nonnegative(),
  outputBytes: z.number().int().nonnegative(),
  endedAt: timeSchema.nullable(),
  outcome: z.enum(checkOutcomes).nullable(),
  exitCode: z.number().int().nullable(),
  /** How it ended, in words. */
  detail: z.string().nullable(),
  counts: testCountSchema.nullable(),
});
export type Check = z.infer<typeof checkSchema>;

/** Main is red: nothing is merged but what repairs it. */
export const emergencySchema = z.object({
  commit: z.string(),
  checkId: idSchema,
  since: timeSchema,
  /** The agent that repairs it; null until one was started. */
  fixerId: idSchema.nullable(),
  /** Why no agent could be started for that; null when nothing failed. */
  trouble: z.string().nullable().default(null),
});

/** The target branch is about to move: from where to where, and which changes go along. */
export const advanceSchema = z.object({
  from: z.string(),
  to: z.string(),
  checkId: idSchema,
  changes: z.array(z.object({ id: idSchema, head: z.string() })),
  /** What a forge calls the change that it was asked to merge; null when it is us who move the branch. */
  forgeRef: z.string().nullable().default(null),
});

export const queueWaitSchema = z.object({
  reason: z.string(),
  changes: z.array(idSchema),
  /** What a person can do about it. */
  hint: z.string().nullable().default(null),
  /** Since when it waits for this reason; null where an earlier release did not note it. */
  since: timeSchema.nullable().default(null),
});

/** The merge queue of a project: what has to be remembered of it beside changes and checks. */
export const queueSchema = z.object({
  projectId: idSchema,
  /** The branch that moves by checked commits only. */
  branch: z.string(),
  /** The last commit of it that was seen, and the last one known to be green. */
  seen: z.string().nullable(),
  green: z.string().nullable(),
  /** How many tests ran at the last green commit. */
  counts: testCountSchema.nullable(),
  emergency: emergencySchema.nullable(),
  pausedAt: timeSchema.nullable(),
  /** A green result that cannot go in yet: what it waits for, in words, and the changes in it. */
  waiting: queueWaitSchema.nullable(),
  advance: advanceSchema.nullable(),
  /** When the queue first saw that the local branch and the remote's have diverged; null while they have not. */
  divergedAt: timeSchema.nullable(),
  beganAt: timeSchema,
});
export type Queue = z.infer<typeof queueSchema>;

/** Commits of an agent that are not proposed, because its definition has no Patch. */
export type WithheldWork = {
  agentId: string;
  projectId: string;
  branch: string;
  head: string;
  /** The definition whose policy has no Patch. */
  definition: string;
  at: number;
};
