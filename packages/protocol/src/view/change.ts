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
/** Longer than what is kept, so that the refusal can say what the limit is. */
const text = z.string().max(limits.bodyBytes);

/** A check as it is seen from outside: without the process that runs it. */
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
    /** How it ended, in words; of one that runs, which of its steps it is at. */
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
  /** Why it is so; empty where there is nothing to say. */
  detail: z.string(),
  /** A person has to say something before it goes on. */
  needsPerson: z.boolean(),
  /** Null for a person. */
  author: agentNamed.nullable(),
  project: projectNamed,
  /** The latest checks of trees that have it, newest first; `show` has more of them. */
  checks: z.array(checkViewSchema),
  comments: z.number().int(),
  /** Comments that block and that nobody has addressed. */
  blocking: z.number().int(),
});
export type ChangeView = z.infer<typeof changeViewSchema>;

export const changeCommentViewSchema = changeCommentSchema.extend({
  /** Who said it; null for a person. */
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
  /** It had one, which proposes a later commit now. */
  moved: z.boolean(),
});
export type ChangeOpened = z.infer<typeof changeOpenedSchema>;

/** All that is known of one change. */
/** Whether the person's own target branch has what was merged. */
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
  /** Where it is written down what was learned from it, when it was closed so. */
  learnings: z.string().nullable(),
  /** Null before it is merged, and where that cannot be told. */
  local: localBranchSchema.nullable(),
});
export type ChangeDetail = z.infer<typeof changeDetailSchema>;

/** What `from`, which is the target branch as it is, gains by the change's head `to`. Of what is merged, `from` is where it began. */
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
  /** There was more than is given. */
  truncated: z.boolean(),
});
export type ChangeDiff = z.infer<typeof changeDiffSchema>;

/** A conflict that was opened for a person, or is resolved. */
export const changeFixSchema = z.object({
  change: changeViewSchema,
  /** The merge was begun, was so already, is not needed; or the resolved one is proposed. */
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

/** What a check has printed. */
export const checkLogSchema = z.object({
  check: checkViewSchema,
  /** By step, in their order; bytes that are not UTF-8 show as U+FFFD. */
  output: z.array(z.object({ step: z.string(), text: z.string() })),
  /** Bytes before these that are stored and not given. */
  leftOutBytes: z.number().int().nonnegative(),
});
export type CheckLog = z.infer<typeof checkLogSchema>;

/** The project is that of the path, or by its name or id; an agent's own when both are absent. */
export const openChangeSchema = z.strictObject({
  path: path.optional(),
  project: z.string().min(1).max(128).optional(),
  /** An agent's own when absent. */
  branch: z.string().min(1).max(limits.bodyBytes).optional(),
  title: text.optional(),
  summary: text.optional(),
  /** It is not queued by being opened. */
  draft: z.boolean().optional(),
});
export type OpenChangeBody = z.infer<typeof openChangeSchema>;

export const changeQuerySchema = z.object({
  path: path.optional(),
  project: z.string().min(1).max(128).optional(),
});
export const changeListQuerySchema = changeQuerySchema.extend({
  /** With those that are merged or closed. */
  all: z.enum(['true', 'false']).optional(),
  limit: z.coerce.number().int().min(1).max(limits.pageRows).optional(),
});
export const checkLogQuerySchema = changeQuerySchema.extend({ check: z.string().min(1).max(64).optional() });

export const approveChangeSchema = z.strictObject({
  /** The head that was looked at: another one is not approved by this. */
  head: z.string().min(4).max(64).optional(),
});
export const blockChangeSchema = z.strictObject({ reason: text });
export const commentChangeSchema = z.strictObject({
  /** What begins with `[BLOCKING]` holds the change until it is addressed. */
  body: text,
  /** The comment that this one answers: it counts as addressed from now on. */
  addresses: z.string().min(1).max(64).optional(),
});
export type CommentChangeBody = z.infer<typeof commentChangeSchema>;
export const commentAnswerSchema = changeAnswerSchema.extend({ comment: changeCommentViewSchema });
export type CommentAnswer = z.infer<typeof commentAnswerSchema>;
export const closeChangeSchema = z.strictObject({
  reason: text,
  /** What others should know who try the same; kept in a file. */
  learnings: text.optional(),
});
export type CloseChangeBody = z.infer<typeof closeChangeSchema>;
export const closedChangeSchema = changeAnswerSchema.extend({ learnings: z.string().nullable() });
export type ClosedChange = z.infer<typeof closedChangeSchema>;
export const mergeChangeSchema = z.strictObject({
  /** It repairs a red target branch, so it is taken although nothing else is. */
  fix: z.boolean().optional(),
});

export const mergeAnswerSchema = changeAnswerSchema.extend({
  /** The effect of the request: a merge, a push, or only a check. */
  note: z.string(),
  /** That the merge makes the local target branch diverge; null when it does not. */
  warning: z.string().nullable(),
});
export type MergeAnswer = z.infer<typeof mergeAnswerSchema>;

/** What a project asks of its queue, in short. */
const queueConfigSchema = z.object({
  enabled: z.boolean(),
  checks: z.array(z.string()),
  method: z.enum(mergeMethods),
  batch: z.number().int(),
  parallel: z.number().int().nullable(),
  remote: z.string().nullable(),
  auto: z.boolean(),
  forge: z.enum(['local', 'github']),
  /** Which definition reviews each change; null is nobody. */
  review: z.string().nullable(),
  guard: z.boolean(),
  source: z.enum(['commit', 'checkout', 'none']),
});

/** The merge queue of one project as it is now. */
export const queueViewSchema = z.object({
  project: projectNamed,
  branch: z.string(),
  /** The target branch as the queue saw it last; as it is, before the queue has begun. */
  main: z.string().nullable(),
  /** The last commit of it that is known to pass. */
  green: z.string().nullable(),
  /** How many tests ran there. */
  counts: testCountSchema.nullable(),
  emergency: emergencySchema.extend({ fixer: agentNamed.nullable() }).nullable(),
  pausedAt: timeSchema.nullable(),
  waiting: queueWaitSchema.nullable(),
  /** The steps before anything is merged automatically, with the commands. */
  advice: z.array(z.string()),
  /** When a person allowed that the target branch is pushed; null when they have not. */
  pushAllowedAt: timeSchema.nullable(),
  /** Why nothing moves, when the project's configuration cannot be read. */
  trouble: z.string().nullable(),
  /** What is queued and not merged, in its order. */
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

/** What became of what agents were given to do, newest first. It outlives worktrees and branches. */
export const taskHistorySchema = z.object({
  tasks: z.array(
    z.object({
      agent: agentNamed,
      project: projectNamed,
      /** The beginning of what it was given. */
      task: z.string(),
      branch: z.string(),
      state: z.enum(historyStates),
      changeId: idSchema.nullable(),
      /** What it said last, or why it failed; empty when there is nothing. */
      detail: z.string(),
      startedAt: timeSchema,
      /** When it came to that state, where it did. */
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
