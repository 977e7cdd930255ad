import * as z from 'zod';
import { timeSchema } from './record.ts';

const existences = ['running', 'dead', 'reaped'] as const;
const activities = [
  'starting',
  'running',
  'idle',
  'waiting_for_input',
  'waiting_for_approval',
  'waiting_for_provider',
  'stopped',
  'crashed',
  'exhausted',
  'over_budget',
  'ready_for_cleanup',
] as const;
export const liveStates = ['model_loading', 'thinking', 'calling_tool', 'working', 'idle'] as const;
const runStatuses = ['running', 'completed', 'failed', 'cancelled'] as const;

/** The three layers of an agent's status, each derived from facts, and one sentence of detail. */
export const statusSchema = z.object({
  status: z.enum(existences),
  activity: z.enum(activities),
  live: z.enum(liveStates),
  run: z.enum(runStatuses).nullable(),
  /** Only with activity `exhausted`: when the limit ends, if known. */
  exhaustedUntil: timeSchema.nullable(),
  detail: z.string(),
});
export type Status = z.infer<typeof statusSchema>;

/** The agent's activity according to its last line of output. */
export type LiveState = {
  live: (typeof liveStates)[number];
  detail: string;
  /** The tool that it calls, if it calls one. */
  tool?: string;
};
