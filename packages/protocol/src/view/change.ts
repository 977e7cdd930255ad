import {
  changeCommentSchema,
  changeSchema,
  changeStates,
  checkOutcomes,
  checkSchema,
  emergencySchema,
  mergeMethods,
  queueWaitSchema,
  testCountSchema,
} from '@pawl/schema/change';
import { idSchema, nameSchema } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import { timeSchema } from '@pawl/schema/record';
import * as z from 'zod';

const path = z
  .string()
  .min(1)
  .max(4096)
  .refine((text) => !text.includes('\0'), 'must not contain a NUL character');
const agentNamed = z.object({ id: idSchema, alias: nameSchema });
const projectNamed = z.object({ id: idSchema, name: nameSchema });
/** Longer than the limit, so that the refusal can state it. */
const text = z.string().max(limits.bodyBytes);

/** A check for display: without its process. */
export const checkViewSchema = checkSchema
  .pick({
    id: true,
    commit: true,
    tree: true,
    onto: true,
    changes: true,
    plannedAt: true,
    startedAt: true,
    endedAt: true,
  })
  .extend({
    outcome: z.enum([...checkOutcomes, 'running']),
    /** Its result, in words; for a running one, its current step. */
    detail: z.string(),
    counts: testCountSchema.nullable(),
    exitCode: z.number().int().nullable(),
    /** The names of its commands, in their order. */
    steps: z.array(z.string()),
  });
export type CheckView = z.infer<typeof checkViewSchema>;

/** A change with the state that is derived from its facts now. */
export const changeViewSchema = changeSchema.extend({
  state: z.enum(changeStates),
  /** Why; may be empty. */
  detail: z.string(),
  /** A person must act before it continues. */
  needsPerson: z.boolean(),
  /** Null for a person. */
  author: agentNamed.nullable(),
  project: projectNamed,
  /** The latest checks of trees with it, newest first; `show` has more. */
  checks: z.array(checkViewSchema),
  comments: z.number().int(),
  /** Unaddressed blocking comments. */
  blocking: z.number().int(),
});
export type ChangeView = z.infer<typeof changeViewSchema>;

export const changeCommentViewSchema = changeCommentSchema.extend({
  /** Its author; null for a person. */
  author: agentNamed.nullable(),
});
export type ChangeCommentView = z.infer<typeof changeCommentViewSchema>;

export const changeAnswerSchema = z.object({ change: changeViewSchema });
export type ChangeAnswer = z.infer<typeof changeAnswerSchema>;
export const changeListSchema = z.object({ changes: z.array(changeViewSchema), more: z.boolean() });
export type ChangeList = z.infer<typeof changeListSchema>;
export const changeOpenedSchema = changeAnswerSchema.extend({
  /** The branch had no open change before. */
  created: z.boolean(),
  /** It had one, which now proposes a later commit. */
  moved: z.boolean(),
});
export type ChangeOpened = z.infer<typeof changeOpenedSchema>;

/** All details of one change. */
/** Whether the person's own target branch has the merge. */
export const localBranchSchema = z.object({
  branch: z.string(),
  state: z.enum(['followed', 'behind', 'pending']),
  /** Why it stays behind. */
  reason: z.string().nullable(),
});
export type LocalBranch = z.infer<typeof localBranchSchema>;

export const changeDetailSchema = z.object({
  change: changeViewSchema,
  comments: z.array(changeCommentViewSchema),
  checks: z.array(checkViewSchema),
  /** The file with the learnings, if it was closed with some. */
  learnings: z.string().nullable(),
  /** Null before it is merged, and if unknown. */
  local: localBranchSchema.nullable(),
});
export type ChangeDetail = z.infer<typeof changeDetailSchema>;

/**
 * The diff from `from`, the current target branch, to the change's head `to`. For a merged change, `from` is where it
 * started.
 */
export const changeDiffSchema = z.object({
  changeId: idSchema,
  branch: z.string(),
  from: z.string(),
  to: z.string(),
  files: z.array(
    z.object({
      path: z.string(),
      from: z.string().nullable(),
      added: z.number().int().nullable(),
      removed: z.number().int().nullable(),
    }),
  ),
  patch: z.string(),
  /** The diff was cut. */
  truncated: z.boolean(),
});
export type ChangeDiff = z.infer<typeof changeDiffSchema>;

/** A conflict that was opened for a person, or is resolved. */
export const changeFixSchema = z.object({
  change: changeViewSchema,
  /** The merge was started, was already in progress, is not needed; or the resolution is proposed. */
  outcome: z.enum(['begun', 'already', 'clean', 'proposed']),
  /** The worktree; null when the branch has none. */
  path: z.string().nullable(),
  branch: z.string(),
  /** The commit of the target branch that is merged. */
  onto: z.string(),
  /** Files that are in conflict. */
  files: z.array(z.string()),
  next: z.array(z.string()),
});
export type ChangeFix = z.infer<typeof changeFixSchema>;
export const fixChangeSchema = z.strictObject({
  /** Commit the resolved merge and propose it. */
  proceed: z.boolean().optional(),
});

/** The output of a check. */
export const checkLogSchema = z.object({
  check: checkViewSchema,
  /** By step, in order; invalid UTF-8 shows as U+FFFD. */
  output: z.array(z.object({ step: z.string(), text: z.string() })),
  /** Stored bytes before these that are left out. */
  leftOutBytes: z.number().int().nonnegative(),
});
export type CheckLog = z.infer<typeof checkLogSchema>;

/** The project of the path, or by its name or id; by default an agent's own. */
export const openChangeSchema = z.strictObject({
  path: path.optional(),
  project: z.string().min(1).max(128).optional(),
  /** By default an agent's own. */
  branch: z.string().min(1).max(limits.bodyBytes).optional(),
  title: text.optional(),
  summary: text.optional(),
  /** Opening does not queue it. */
  draft: z.boolean().optional(),
});
export type OpenChangeBody = z.infer<typeof openChangeSchema>;

export const changeQuerySchema = z.object({
  path: path.optional(),
  project: z.string().min(1).max(128).optional(),
});
export const changeListQuerySchema = changeQuerySchema.extend({
  /** Includes merged and closed ones. */
  all: z.enum(['true', 'false']).optional(),
  limit: z.coerce.number().int().min(1).max(limits.pageRows).optional(),
});
export const checkLogQuerySchema = changeQuerySchema.extend({ check: z.string().min(1).max(64).optional() });

export const approveChangeSchema = z.strictObject({
  /** The examined head; another one is not approved by this. */
  head: z.string().min(4).max(64).optional(),
});
export const blockChangeSchema = z.strictObject({ reason: text });
export const commentChangeSchema = z.strictObject({
  /** A comment that starts with `[BLOCKING]` holds the change until it is addressed. */
  body: text,
  /** The comment that this one addresses. */
  addresses: z.string().min(1).max(64).optional(),
});
export type CommentChangeBody = z.infer<typeof commentChangeSchema>;
export const commentAnswerSchema = changeAnswerSchema.extend({ comment: changeCommentViewSchema });
export type CommentAnswer = z.infer<typeof commentAnswerSchema>;
export const closeChangeSchema = z.strictObject({
  reason: text,
  /** What the next attempt should know; kept in a file. */
  learnings: text.optional(),
});
export type CloseChangeBody = z.infer<typeof closeChangeSchema>;
export const closedChangeSchema = changeAnswerSchema.extend({ learnings: z.string().nullable() });
export type ClosedChange = z.infer<typeof closedChangeSchema>;
export const mergeChangeSchema = z.strictObject({
  /** It repairs a red target branch, so it is accepted during an emergency. */
  fix: z.boolean().optional(),
});

export const mergeAnswerSchema = changeAnswerSchema.extend({
  /** The effect of the request: a merge, a push, or only a check. */
  note: z.string(),
  /** Says that the merge makes the local target branch diverge; null if it does not. */
  warning: z.string().nullable(),
});
export type MergeAnswer = z.infer<typeof mergeAnswerSchema>;

/** A project's queue settings, in short. */
const queueConfigSchema = z.object({
  enabled: z.boolean(),
  checks: z.array(z.string()),
  method: z.enum(mergeMethods),
  batch: z.number().int(),
  parallel: z.number().int().nullable(),
  remote: z.string().nullable(),
  auto: z.boolean(),
  forge: z.enum(['local', 'github']),
  /** The definition that reviews each change; null is nobody. */
  review: z.string().nullable(),
  guard: z.boolean(),
  source: z.enum(['commit', 'checkout', 'none']),
});

/** The current state of a project's merge queue. */
export const queueViewSchema = z.object({
  project: projectNamed,
  branch: z.string(),
  /** The target branch as the queue last saw it; the actual one before the queue has started. */
  main: z.string().nullable(),
  /** Its last commit known to pass. */
  green: z.string().nullable(),
  /** Test counts there. */
  counts: testCountSchema.nullable(),
  emergency: emergencySchema.extend({ fixer: agentNamed.nullable() }).nullable(),
  pausedAt: timeSchema.nullable(),
  waiting: queueWaitSchema.nullable(),
  /** The steps before anything is merged automatically, with the commands. */
  advice: z.array(z.string()),
  /** When a person allowed pushing the target branch; null if not. */
  pushAllowedAt: timeSchema.nullable(),
  /** Why nothing moves, if the project's configuration cannot be read. */
  trouble: z.string().nullable(),
  /** Queued changes that are not merged, in order. */
  changes: z.array(changeViewSchema),
  running: z.array(checkViewSchema),
  /** The latest that have ended, newest first. */
  checks: z.array(checkViewSchema),
  /** How many of those ended with a result. */
  rounds: z.number().int(),
  config: queueConfigSchema,
});
export type QueueView = z.infer<typeof queueViewSchema>;
export const queueListSchema = z.object({ queues: z.array(queueViewSchema) });
export type QueueList = z.infer<typeof queueListSchema>;
export const queueAnswerSchema = z.object({ queue: queueViewSchema });
export type QueueAnswer = z.infer<typeof queueAnswerSchema>;
export const queueBodySchema = z.strictObject({
  path: path.optional(),
  project: z.string().min(1).max(128).optional(),
});
export type QueueBody = z.infer<typeof queueBodySchema>;

const historyStates = ['open', 'merged', 'closed', 'no-pr', 'failed', 'over-budget', 'unknown'] as const;

/** The results of agents' assignments, newest first. Outlives worktrees and branches. */
export const taskHistorySchema = z.object({
  tasks: z.array(
    z.object({
      agent: agentNamed,
      project: projectNamed,
      /** The start of the assignment. */
      task: z.string(),
      branch: z.string(),
      state: z.enum(historyStates),
      changeId: idSchema.nullable(),
      /** Its last words, or why it failed; may be empty. */
      detail: z.string(),
      startedAt: timeSchema,
      /** When it reached that state, if it did. */
      endedAt: timeSchema.nullable(),
    }),
  ),
});
export type TaskHistory = z.infer<typeof taskHistorySchema>;
export const historyQuerySchema = z.object({
  path: path.optional(),
  project: z.string().min(1).max(128).optional(),
  limit: z.coerce.number().int().min(1).max(limits.pageRows).optional(),
});
