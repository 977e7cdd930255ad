import { agentKinds, interactions } from '@pawl/schema/definition';
import { idSchema, nameSchema } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import { messageKinds, timeSchema } from '@pawl/schema/record';
import { outcomeSchema, queueItemSchema } from '@pawl/schema/runtime/runtime-event';
import { liveStates, statusSchema } from '@pawl/schema/status';
import * as z from 'zod';
import { path, searchPath, word } from '../fields.ts';

/** One execution of an agent. Times are milliseconds since 1970. */
export const runRecordSchema = z.object({
  run_id: idSchema,
  repo_path: z.string().nullable(),
  session_id: nameSchema,
  agent_id: idSchema,
  /** The name of the agent, to show. */
  agent: nameSchema,
  agent_kind: z.enum(agentKinds),
  parent_run_id: idSchema.nullable(),
  status: statusSchema.shape.run.unwrap(),
  detail: z.string().nullable(),
  started_at: timeSchema,
  ended_at: timeSchema.nullable(),
});
export type RunRecord = z.infer<typeof runRecordSchema>;

export const runsQuerySchema = z.object({
  project_root: path.optional(),
  session_id: nameSchema.optional(),
  limit: z.coerce.number().int().min(1).max(limits.pageRows).optional(),
});
export type RunsQuery = z.infer<typeof runsQuerySchema>;

export const runRecordsSchema = z.object({ runs: z.array(runRecordSchema) });
export type RunRecords = z.infer<typeof runRecordsSchema>;

const runId = z.string().min(1).max(64);
export const runQuerySchema = z.object({ run_id: runId });
export const cancelSchema = z.strictObject({ run_id: runId });
export const cancelledSchema = z.object({ cancelled_run_ids: z.array(idSchema) });
export type Cancelled = z.infer<typeof cancelledSchema>;

export const contextQuerySchema = z.object({
  run_id: runId,
  /** `summary` (the default) counts; `raw` has the messages, too, page by page. */
  view: z.enum(['summary', 'raw']).optional(),
  after: z.coerce.number().int().nonnegative().optional(),
  limit: z.coerce.number().int().min(1).max(limits.pageRows).optional(),
});
export type ContextQuery = z.infer<typeof contextQuerySchema>;

/** The messages and tool calls of a run. */
export const runContextSchema = z.object({
  run: runRecordSchema,
  summary: z.object({
    message_count: z.number().int(),
    user_messages: z.number().int(),
    agent_messages: z.number().int(),
    system_messages: z.number().int(),
    tool_calls: z.number().int(),
  }),
  /** The tools that it called, most often first. */
  tools: z.array(z.object({ name: z.string(), calls: z.number().int(), failed: z.number().int() })),
  /** The changes that it proposed. */
  artifacts: z.array(outcomeSchema),
  /** Runs that it began. */
  children: z.array(runRecordSchema),
  /** With `view=raw`: plain text without terminal control. */
  messages: z
    .array(
      z.object({
        id: z.number().int(),
        kind: z.enum(messageKinds),
        from: z.string(),
        content: z.string(),
        timestamp: timeSchema,
      }),
    )
    .optional(),
  /** With `view=raw`: there are more messages after these. */
  more: z.boolean().optional(),
});
export type RunContext = z.infer<typeof runContextSchema>;

/** A message to an agent. `@name …` in front sends it to that agent; `/mode chat` and `/mode auto` change the mode. */
export const chatSchema = z.strictObject({
  message: z.string().min(1).max(limits.bodyBytes),
  /** The project; needed to start an agent, and for `/mode`. */
  project_root: path.optional(),
  /** An agent by id or name, or a definition, whose agent is started if there is none. Default: the current agent. */
  agent_id: z.string().min(1).max(128).optional(),
  /** The chat thread of the run that it begins; by default that of the agent's last run. */
  session_id: nameSchema.optional(),
  /** For an agent that is started: provider, model, and what it needs of the requesting shell. */
  provider: nameSchema.optional(),
  model: word(200).optional(),
  environment: z.record(z.string().max(128), word(8192)).optional(),
  searchPath,
});
export type ChatBody = z.infer<typeof chatSchema>;

export const chatAnswerSchema = z.object({
  /**
   * `started`: a run begins with it. `queued`: the agent is busy, and gets it in its turn or after it. `mode`: it was a
   * command.
   */
  status: z.enum(['started', 'queued', 'mode']),
  agent_id: idSchema.nullable(),
  agent: nameSchema.nullable(),
  session_id: nameSchema.nullable(),
  /** The run that it began, or that is under way. */
  run_id: idSchema.nullable(),
  /** The messages that wait for the agent. */
  queue: z.array(queueItemSchema),
  mode: z.enum(interactions).optional(),
});
export type ChatAnswer = z.infer<typeof chatAnswerSchema>;

export const settingsQuerySchema = z.object({ project_root: path });
export const settingsSchema = z.strictObject({ project_root: path, mode: z.enum(interactions) });
export const settingsAnswerSchema = z.object({
  project_root: z.string(),
  mode: z.enum(interactions),
  /** False if the project has the default mode. */
  chosen: z.boolean(),
});
export type RuntimeSettings = z.infer<typeof settingsAnswerSchema>;

/** A file that an agent is changing. */
const treeFileSchema = z.object({
  type: z.literal('file'),
  agent: nameSchema,
  status: z.literal('working'),
  path: z.string(),
  last_modified: timeSchema.nullable(),
});

type TreeNode = z.infer<typeof treeFileSchema> | { type: 'dir'; children: Record<string, TreeNode> };

const treeNodeSchema: z.ZodType<TreeNode> = z
  .lazy(() =>
    z.union([treeFileSchema, z.object({ type: z.literal('dir'), children: z.record(z.string(), treeNodeSchema) })]),
  )
  .meta({ id: 'WorkspaceTreeNode' });

export const workspaceTreeSchema = z.object({ tree: z.record(z.string(), treeNodeSchema), truncated: z.boolean() });
export type WorkspaceTree = z.infer<typeof workspaceTreeSchema>;
export type WorkspaceNode = TreeNode;

/** The agents that work in a project now. */
export const workspaceStateSchema = z.object({
  project_root: z.string(),
  agents: z.array(
    z.object({
      agent_id: idSchema,
      agent: nameSchema,
      kind: z.enum(agentKinds),
      definition: nameSchema,
      parent_id: idSchema.nullable(),
      status: z.enum(liveStates),
      detail: z.string(),
      run_id: idSchema.nullable(),
      session_id: nameSchema.nullable(),
      queue: z.array(queueItemSchema),
    }),
  ),
});
export type WorkspaceState = z.infer<typeof workspaceStateSchema>;
