import { changeCommentSchema, changeSchema, changeStates } from '@pawl/schema/change';
import { idSchema } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import * as z from 'zod';
import { checkViewSchema } from '../checks/view.ts';
import { agentNamed, diffFields, path, projectNamed } from '../fields.ts';

/** Longer than the limit, so that the refusal can state it. */
const text = z.string().max(limits.bodyBytes);

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

/** Whether the person's own target branch has the merge. */
export const localBranchSchema = z.object({
  branch: z.string(),
  state: z.enum(['followed', 'behind', 'pending']),
  /** Why it stays behind. */
  reason: z.string().nullable(),
});
export type LocalBranch = z.infer<typeof localBranchSchema>;

/** All details of one change. */
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
  ...diffFields,
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
  /** Advice for the next attempt; kept in a file. */
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
