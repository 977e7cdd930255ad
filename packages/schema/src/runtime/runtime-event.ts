import * as z from 'zod';
import { interactions } from '../definition.ts';
import { idSchema } from '../id.ts';
import { timeSchema } from '../record.ts';
import { liveStates } from '../status.ts';
import { contextUsageSchema } from './context-usage.ts';

/** The result of a run: a task for others, a change to the code, or neither. */
export const outcomeSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('task'),
    title: z.string(),
    user_stories: z.array(z.string()),
    acceptance_criteria: z.array(z.string()),
    task_id: idSchema.optional(),
  }),
  z.object({
    type: z.literal('patch'),
    change_id: idSchema,
    title: z.string(),
    branch: z.string(),
    head: z.string(),
  }),
  z.object({ type: z.literal('none') }),
]);
export type RunOutcome = z.infer<typeof outcomeSchema>;

/** A message that waits for a busy agent. */
export const queueItemSchema = z.object({
  id: idSchema,
  agent_id: idSchema,
  session_id: z.string(),
  preview: z.string(),
  timestamp: timeSchema,
});
export type QueueItem = z.infer<typeof queueItemSchema>;

/** `from` and `to` name agents by id; a person is `user`. */
export const personName = 'user';

const runtimePayloadSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('StateUpdated') }),
  z.object({ type: z.literal('Message'), from: z.string(), to: z.string(), content: z.string() }),
  z.object({ type: z.literal('SubagentSpawned'), parent_id: idSchema, subagent_id: idSchema, task: z.string() }),
  z.object({
    type: z.literal('SubagentResult'),
    parent_id: idSchema,
    subagent_id: idSchema,
    outcome: outcomeSchema,
  }),
  z.object({
    type: z.literal('AgentStatus'),
    agent_id: idSchema,
    status: z.enum(liveStates),
    detail: z.string(),
    /** Its subject, such as the file that a tool reads. */
    about: z.string().optional(),
    status_id: z.string().optional(),
    lifecycle: z.enum(['doing', 'done']).optional(),
  }),
  z.object({ type: z.literal('SettingsUpdated'), mode: z.enum(interactions) }),
  z.object({ type: z.literal('QueueUpdated'), agent_id: idSchema, items: z.array(queueItemSchema) }),
  z.object({ type: z.literal('Token'), agent_id: idSchema, token: z.string() }),
  z.object({ type: z.literal('ContextUsage'), agent_id: idSchema, ...contextUsageSchema.shape }),
  z.object({ type: z.literal('Outcome'), agent_id: idSchema, outcome: outcomeSchema }),
]);
export type RuntimePayload = z.infer<typeof runtimePayloadSchema>;

/** An event of the runtime contract. `seq` rises strictly; `id` of the stream is the same number. */
export const runtimeEventSchema = z.intersection(
  z.object({ seq: z.number().int(), project_root: z.string().nullable(), session_id: z.string().nullable() }),
  runtimePayloadSchema,
);
export type RuntimeEvent = z.infer<typeof runtimeEventSchema>;
