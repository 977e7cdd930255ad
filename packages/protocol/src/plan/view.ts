import { changeStates } from '@pawl/schema/change';
import { idSchema, nameSchema } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import { taskPriorities, taskSchema, taskStates, timeSchema } from '@pawl/schema/record';
import * as z from 'zod';
import { agentNamed, path, projectNamed } from '../fields.ts';

const taskWord = z.string().min(1).max(1_000);

const named = z.object({ id: idSchema, name: z.string() });

export const addTaskSchema = z.object({
  /** Any path inside the project; by default an agent's own project, or that of the named agent. */
  path: path.optional(),
  name: z.string().min(1).max(limits.bodyBytes),
  description: z.string().max(limits.bodyBytes).optional(),
  phase: z.string().max(1_000).optional(),
  /** Ids or exact names of tasks that must be completed first. */
  after: z.array(taskWord).max(1_000).optional(),
  /** The new task becomes a sibling of this agent's: of the same project and phase. */
  agent: z.string().min(1).max(128).optional(),
});
export type AddTaskBody = z.infer<typeof addTaskSchema>;

/** A task with the state that is derived from its facts now. */
export const taskViewSchema = taskSchema.extend({
  state: z.enum(taskStates),
  /** The change that its finished work waits for. */
  change: z.object({ id: idSchema, state: z.enum(changeStates), detail: z.string() }).nullable(),
  /** Why it is blocked, or what it waits for; otherwise empty. */
  detail: z.string(),
  project: z.object({ id: idSchema, name: nameSchema }).nullable(),
  /** The agent working on it. */
  agent: agentNamed.nullable(),
});
export type TaskView = z.infer<typeof taskViewSchema>;

export const taskListSchema = z.object({ tasks: z.array(taskViewSchema), more: z.boolean() });
export type TaskList = z.infer<typeof taskListSchema>;

export const taskAddedSchema = z.object({ task: taskViewSchema, created: z.boolean() });
export type TaskAdded = z.infer<typeof taskAddedSchema>;

export const taskAnswerSchema = z.object({ task: taskViewSchema });
export type TaskAnswer = z.infer<typeof taskAnswerSchema>;

/** A task with its dependencies, its dependents, and its agents. */
export const taskDetailSchema = z.object({
  task: taskViewSchema,
  dependencies: z.array(named.extend({ state: z.enum(taskStates), summary: z.string().nullable() })),
  dependents: z.array(named.extend({ state: z.enum(taskStates) })),
  agents: z.array(agentNamed),
});
export type TaskDetail = z.infer<typeof taskDetailSchema>;

export const taskQuerySchema = z.object({ path: path.optional() });

export const taskListQuerySchema = taskQuerySchema.extend({
  state: z.enum(taskStates).optional(),
  phase: z.string().max(1_000).optional(),
  /** Includes completed ones. */
  all: z.enum(['true', 'false']).optional(),
});

export const taskDoneSchema = z.object({ summary: z.string().max(limits.bodyBytes).optional() });

export const editTaskSchema = z.object({
  priority: z.enum(taskPriorities).optional(),
  /** It is not needed any more; those after it do not wait for it. */
  cancel: z.boolean().optional(),
});
export type EditTaskBody = z.infer<typeof editTaskSchema>;

export const taskBlockSchema = z.object({ reason: z.string().trim().min(1).max(limits.bodyBytes) });

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
