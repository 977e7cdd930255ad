import * as z from 'zod';
import { approvalKinds } from './approval-kind.ts';
import { idSchema } from '../id.ts';
import { timeSchema } from '../record.ts';

/** How a request ended. `withdrawn`: its CLI no longer waits for an answer. */
const approvalEnds = ['answered', 'withdrawn', 'expired'] as const;

/**
 * A request of an agent's CLI, or of a program on its behalf, to do something. Stored before anybody sees it.
 *
 *   asked ──▶ referred to a person (no rule decided) ──▶ answered ──▶ sent to the CLI
 *     ├──▶ answered by a rule, the definition or a limit ─────┘
 *     └──▶ withdrawn (by the CLI, or its session ended) | expired (the deadline denies it, and that is sent)
 */
export const approvalSchema = z.object({
  id: idSchema,
  projectId: idSchema.nullable(),
  agentId: idSchema,
  /** Null for a request over HTTP, which waits for its answer there. */
  sessionId: idSchema.nullable(),
  provider: z.string().nullable(),
  /** The CLI's id of the request; unique in its session. */
  nativeId: z.string(),
  kind: z.enum(approvalKinds),
  tool: z.string(),
  /** One line for a person: the command, the path, or the CLI's own words. */
  title: z.string(),
  /** The tool's whole input, as JSON. */
  detail: z.string(),
  cwd: z.string().nullable(),
  /** The CLI's own subagent that asks; null for the agent itself. */
  owner: z.string().nullable(),
  askedAt: timeSchema,
  /** When it was left to a person; null before. */
  referredAt: timeSchema.nullable(),
  deadlineAt: timeSchema.nullable(),
  closedAt: timeSchema.nullable(),
  end: z.enum(approvalEnds).nullable(),
  /** Closed by `person`, `rule`, `definition`, `limit`, `policy`, `session`, or an agent's id. */
  closedBy: z.string().nullable(),
  decision: z.enum(['allow', 'deny']).nullable(),
  reason: z.string().nullable(),
  /** When the decision was written to the session, or the session had ended. */
  sentAt: timeSchema.nullable(),
});
export type Approval = z.infer<typeof approvalSchema>;
