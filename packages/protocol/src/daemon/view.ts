import { eventSchema } from '@pawl/schema/event';
import { timeSchema } from '@pawl/schema/record';
import * as z from 'zod';
import { agentAnswerSchema } from '../agents/view.ts';

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
  /** Why the daemon cannot write now, such as a full disk; null if it can. */
  trouble: z.string().nullable(),
});
export type DaemonView = z.infer<typeof daemonViewSchema>;

export const eventPageSchema = z.object({ events: z.array(eventSchema), lastSeq: z.number().int() });
export type EventPage = z.infer<typeof eventPageSchema>;

export const stoppingSchema = z.object({ stopping: z.literal(true), pid: z.number().int() });

const findingSchema = z.object({
  check: z.string(),
  level: z.enum(['ok', 'warning', 'error']),
  message: z.string(),
  hint: z.string().optional(),
  /** `doctor --fix` can repair this. */
  fixable: z.boolean(),
});
export type Finding = z.infer<typeof findingSchema>;

export const doctorSchema = z.object({ findings: z.array(findingSchema), fixed: z.array(z.string()) });
export type Diagnosis = z.infer<typeof doctorSchema>;

/** The caller: an agent, or a person, with the agent they act as. */
export const whoamiSchema = agentAnswerSchema.extend({
  caller: z.enum(['person', 'agent']),
  /** The routes open to the caller, by their names in docs/definitions.md. */
  doors: z.array(z.string()),
});
export type Whoami = z.infer<typeof whoamiSchema>;
