import * as z from 'zod';
import { idSchema, nameSchema } from './id.ts';

/** Milliseconds since 1970. Order is by `seq` or id, never by time. */
export const timeSchema = z.number().int();

const agentKinds = ['main', 'subagent'] as const;
const agentClasses = ['persistent', 'ephemeral'] as const;
const runOutcomes = ['completed', 'failed', 'cancelled'] as const;
const messageKinds = ['fork', 'user', 'assistant', 'system'] as const;
export const outputStreams = ['stdout', 'stderr'] as const;

export const projectSchema = z.object({
  id: idSchema,
  name: nameSchema,
  /** Canonical path of the work tree, or of the repository when it is bare. */
  root: z.string(),
  createdAt: timeSchema,
});
export type Project = z.infer<typeof projectSchema>;

/** Who: identity and facts, never a status. Rows are never deleted. */
export const agentSchema = z.object({
  id: idSchema,
  alias: nameSchema,
  /** Null only for agent 0 and what belongs to no project. */
  projectId: idSchema.nullable(),
  /** Null only for agent 0. */
  parentId: idSchema.nullable(),
  /** The parent's last message that the child inherits; 0 inherits nothing. */
  forkMessageId: z.number().int(),
  definition: nameSchema,
  kind: z.enum(agentKinds),
  class: z.enum(agentClasses),
  provider: nameSchema.nullable(),
  model: z.string().nullable(),
  /** What the provider's preset lets a person choose, such as the scripted provider's scenario. */
  options: z.record(z.string(), z.string()),
  branch: z.string().nullable(),
  baseCommit: z.string().nullable(),
  worktree: z.string().nullable(),
  worktreeReadyAt: timeSchema.nullable(),
  createdAt: timeSchema,
  stopRequestedAt: timeSchema.nullable(),
  endedAt: timeSchema.nullable(),
  endReason: z.string().nullable(),
});
export type Agent = z.infer<typeof agentSchema>;

export const usageSchema = z.object({
  inputTokens: z.number().int().nonnegative(),
  outputTokens: z.number().int().nonnegative(),
  cachedTokens: z.number().int().nonnegative(),
  costUsd: z.number().nonnegative(),
  turns: z.number().int().nonnegative(),
});
export type Usage = z.infer<typeof usageSchema>;
export const noUsage: Usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, costUsd: 0, turns: 0 };

/** What the provider itself said about the end of a turn. */
const providerResultSchema = z.object({
  ok: z.boolean(),
  text: z.string(),
});
export type ProviderResult = z.infer<typeof providerResultSchema>;

/** One process lifetime of an agent, numbered 1, 2, 3… */
export const sessionSchema = z.object({
  id: idSchema,
  agentId: idSchema,
  runId: idSchema,
  no: z.number().int().positive(),
  /** Why it was planned: the first prompt of a run, a resume with an instruction, … */
  purpose: z.enum(['work', 'missing-signal']),
  providerSessionId: z.string().nullable(),
  plannedAt: timeSchema,
  /** Null until the process is known to run. */
  startedAt: timeSchema.nullable(),
  pid: z.number().int().nullable(),
  /** With the pid, the identity of the process: its start time and the boot it belongs to. */
  processStart: z.string().nullable(),
  endedAt: timeSchema.nullable(),
  exitCode: z.number().int().nullable(),
  endReason: z.string().nullable(),
  usage: usageSchema,
  result: providerResultSchema.nullable(),
  /** A usage limit that the provider reported: 0 when it named no end. */
  limitUntil: timeSchema.nullable(),
});
export type Session = z.infer<typeof sessionSchema>;

/** One unit of work. `outcome` is null while it runs. */
export const runSchema = z.object({
  id: idSchema,
  projectId: idSchema,
  agentId: idSchema,
  agentKind: z.enum(agentKinds),
  parentRunId: idSchema.nullable(),
  task: z.string(),
  startedAt: timeSchema,
  endedAt: timeSchema.nullable(),
  outcome: z.enum(runOutcomes).nullable(),
  detail: z.string().nullable(),
  /** Questions that the agent left for a person, when it ended with questions. */
  questions: z.array(z.object({ id: z.string(), question: z.string() })).nullable(),
});
export type Run = z.infer<typeof runSchema>;

const messageSchema = z.object({
  id: z.number().int(),
  agentId: idSchema,
  kind: z.enum(messageKinds),
  content: z.string(),
  createdAt: timeSchema,
});
export type Message = z.infer<typeof messageSchema>;

/** Raw output of a session: the bytes of one stream from `offset` on. Concatenated by offset they equal the file. */
export type Chunk = {
  id: number;
  sessionId: string;
  agentId: string;
  stream: (typeof outputStreams)[number];
  offset: number;
  bytes: Uint8Array;
  at: number;
};
