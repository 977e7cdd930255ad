import * as z from 'zod';
import { idSchema, nameSchema } from './id.ts';
import { timeSchema, usageSchema } from './record.ts';

/** What each event carries. Names are noun-verb in the past; an event is written together with the fact it tells. */
export const eventData = {
  'daemon.started': z.object({ version: z.string(), pid: z.number().int() }),
  'daemon.stopped': z.object({ reason: z.string() }),
  'store.restored': z.object({ quarantined: z.string(), backup: z.string().nullable(), reason: z.string() }),
  'project.added': z.object({ name: nameSchema, root: z.string() }),
  'agent.forked': z.object({
    alias: nameSchema,
    parentId: idSchema.nullable(),
    definition: nameSchema,
    provider: nameSchema.nullable(),
    branch: z.string().nullable(),
  }),
  'worktree.created': z.object({ path: z.string(), branch: z.string(), base: z.string() }),
  'run.started': z.object({ task: z.string() }),
  'session.planned': z.object({ no: z.number().int(), purpose: z.string() }),
  'session.started': z.object({ no: z.number().int(), pid: z.number().int() }),
  'session.adopted': z.object({ no: z.number().int(), pid: z.number().int() }),
  'session.identified': z.object({ no: z.number().int(), providerSessionId: z.string() }),
  'session.damaged': z.object({ no: z.number().int(), stream: z.string(), reason: z.string() }),
  'session.ended': z.object({
    no: z.number().int(),
    exitCode: z.number().int().nullable(),
    reason: z.string(),
    usage: usageSchema,
  }),
  'agent.waiting': z.object({ questions: z.number().int() }),
  'agent.exhausted': z.object({ until: timeSchema.nullable() }),
  'agent.stopping': z.object({ by: z.string() }),
  'run.ended': z.object({
    status: z.enum(['completed', 'failed', 'cancelled']),
    detail: z.string().nullable(),
  }),
} as const satisfies Record<string, z.ZodType>;

export type EventType = keyof typeof eventData;
export const eventTypes = Object.keys(eventData) as [EventType, ...EventType[]];

/** A fact that was written, as it is stored and streamed. */
export const eventSchema = z.object({
  seq: z.number().int().positive(),
  at: timeSchema,
  type: z.enum(eventTypes),
  projectId: idSchema.nullable(),
  agentId: idSchema.nullable(),
  data: z.record(z.string(), z.unknown()),
});
export type Event = z.infer<typeof eventSchema>;

/** An event that is about to be written: the store adds `seq` and `at`. */
export type NewEvent = {
  [T in EventType]: {
    type: T;
    projectId?: string | null;
    agentId?: string | null;
    data: z.infer<(typeof eventData)[T]>;
  };
}[EventType];
