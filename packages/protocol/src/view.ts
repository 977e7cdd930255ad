import { eventSchema } from '@pawl/schema/event';
import { limits } from '@pawl/schema/limit';
import { errorCodes } from '@pawl/schema/error';
import { idSchema, nameSchema } from '@pawl/schema/id';
import { outputStreams, projectSchema, runSchema, sessionSchema, timeSchema, usageSchema } from '@pawl/schema/record';
import { statusSchema } from '@pawl/schema/status';
import { streamEventSchema } from '@pawl/schema/stream-event';
import * as z from 'zod';

/** What every failed request answers. */
export const errorViewSchema = z.object({
  error: z.object({
    code: z.enum(Object.keys(errorCodes) as [keyof typeof errorCodes, ...(keyof typeof errorCodes)[]]),
    message: z.string(),
    hint: z.string().optional(),
    details: z.record(z.string(), z.unknown()).optional(),
  }),
});
export type ErrorView = z.infer<typeof errorViewSchema>;

export const healthSchema = z.object({ status: z.literal('ok'), version: z.string() });

export const daemonViewSchema = z.object({
  version: z.string(),
  pid: z.number().int(),
  home: z.string(),
  port: z.number().int().nullable(),
  startedAt: timeSchema,
  lastSeq: z.number().int(),
  projects: z.number().int(),
  agents: z.object({ total: z.number().int(), working: z.number().int() }),
  memoryBytes: z.number().int(),
  /** Why the daemon cannot write now, such as a full disk; null when all is well. */
  trouble: z.string().nullable(),
});
export type DaemonView = z.infer<typeof daemonViewSchema>;

export const projectListSchema = z.object({ projects: z.array(projectSchema) });
/** A path, or another word that becomes part of a command: no system takes a NUL in one. */
const word = (characters: number) =>
  z
    .string()
    .min(1)
    .max(characters)
    .refine((text) => !text.includes('\0'), 'must not contain a NUL character');

export const addProjectSchema = z.object({ path: word(4096), name: nameSchema.optional() });
export const projectAddedSchema = z.object({ project: projectSchema, created: z.boolean() });
export type ProjectAdded = z.infer<typeof projectAddedSchema>;

/** An agent as people and programs see it: its facts and the status derived from them. */
const agentViewSchema = z.object({
  id: idSchema,
  alias: nameSchema,
  project: z.object({ id: idSchema, name: nameSchema }).nullable(),
  parentId: idSchema.nullable(),
  definition: nameSchema,
  provider: nameSchema.nullable(),
  model: z.string().nullable(),
  branch: z.string().nullable(),
  baseCommit: z.string().nullable(),
  worktree: z.string().nullable(),
  createdAt: timeSchema,
  status: statusSchema.shape.status,
  activity: statusSchema.shape.activity,
  live: statusSchema.shape.live,
  detail: z.string(),
  exhaustedUntil: timeSchema.nullable(),
  run: z
    .object({
      id: idSchema,
      status: statusSchema.shape.run.unwrap(),
      task: z.string(),
      detail: z.string().nullable(),
      questions: runSchema.shape.questions,
      startedAt: timeSchema,
      endedAt: timeSchema.nullable(),
    })
    .nullable(),
  session: sessionSchema.pick({ id: true, no: true, pid: true, providerSessionId: true, exitCode: true }).nullable(),
  usage: usageSchema,
});
export type AgentView = z.infer<typeof agentViewSchema>;

export const agentListSchema = z.object({ agents: z.array(agentViewSchema), more: z.boolean() });
export type AgentList = z.infer<typeof agentListSchema>;

export const workSchema = z.object({
  /** Any path inside the project. */
  path: word(4096),
  task: z.string().max(limits.bodyBytes),
  provider: z.string().min(1).max(64),
  alias: nameSchema.optional(),
  model: word(200).optional(),
  /** The commit, branch or tag to start from; the project's HEAD when absent. */
  base: z.string().min(1).max(200).optional(),
  options: z.record(z.string().max(64), word(4096)).optional(),
});
export type WorkBody = z.infer<typeof workSchema>;
export const agentAnswerSchema = z.object({ agent: agentViewSchema });
export type AgentAnswer = z.infer<typeof agentAnswerSchema>;

/** Everything there is to know about one agent. */
export const inspectionSchema = z.object({
  agent: agentViewSchema,
  sessions: z.array(
    sessionSchema.extend({ directory: z.string(), environment: z.array(z.string()), argv: z.array(z.string()) }),
  ),
  runs: z.array(runSchema),
  worktree: z
    .object({
      exists: z.boolean(),
      head: z.string().nullable(),
      commits: z.number().int(),
      changed: z.number().int(),
      untracked: z.number().int(),
      files: z.array(z.string()),
    })
    .nullable(),
});
export type Inspection = z.infer<typeof inspectionSchema>;

const outputChunkSchema = z.object({
  id: z.number().int(),
  sessionNo: z.number().int(),
  stream: z.enum(outputStreams),
  offset: z.number().int(),
  at: timeSchema,
  /** With `format=raw`: the chunk's text; bytes that are not UTF-8 show as U+FFFD, and `base64` then has them exactly. */
  content: z.string().optional(),
  base64: z.string().optional(),
  /** With `format=events`: what the provider's parser made of it. */
  events: z.array(streamEventSchema).optional(),
});
export type OutputChunk = z.infer<typeof outputChunkSchema>;
export const outputPageSchema = z.object({
  chunks: z.array(outputChunkSchema),
  /** More output is stored beyond this page. */
  more: z.boolean(),
  /** The agent is not working now, so nothing follows unless it is resumed. */
  ended: z.boolean(),
});
export type OutputPage = z.infer<typeof outputPageSchema>;

export const eventPageSchema = z.object({ events: z.array(eventSchema), lastSeq: z.number().int() });
export type EventPage = z.infer<typeof eventPageSchema>;

const findingSchema = z.object({
  check: z.string(),
  level: z.enum(['ok', 'warning', 'error']),
  message: z.string(),
  hint: z.string().optional(),
  /** `doctor --fix` can put this right. */
  fixable: z.boolean(),
});
export type Finding = z.infer<typeof findingSchema>;
export const doctorSchema = z.object({ findings: z.array(findingSchema), fixed: z.array(z.string()) });
export type Diagnosis = z.infer<typeof doctorSchema>;

export const stoppingSchema = z.object({ stopping: z.literal(true), pid: z.number().int() });
