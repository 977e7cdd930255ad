import { changeStates } from '@pawl/schema/change';
import { agentClasses, agentKinds } from '@pawl/schema/definition';
import { idSchema, nameSchema } from '@pawl/schema/id';
import { accessLevels } from '@pawl/schema/access-level';
import {
  adoptedSchema,
  budgetSchema,
  runSchema,
  sessionSchema,
  timeSchema,
  usageSchema,
  workModes,
  worktreeEndSchema,
} from '@pawl/schema/record';
import { statusSchema } from '@pawl/schema/status';
import * as z from 'zod';
import { worktreeContentSchema } from './worktrees/view.ts';

/** An agent as people and programs see it: its facts and the status derived from them. */
export const agentViewSchema = z.object({
  id: idSchema,
  alias: nameSchema,
  project: z.object({ id: idSchema, name: nameSchema }).nullable(),
  parentId: idSchema.nullable(),
  /** Its supervisor: its parent, or the nearest living ancestor after that one was killed. */
  supervisorId: idSchema.nullable(),
  /** The last message of its parent that it inherits; 0 inherits nothing. */
  forkMessageId: z.number().int(),
  definition: nameSchema,
  kind: z.enum(agentKinds),
  class: z.enum(agentClasses),
  provider: nameSchema.nullable(),
  model: z.string().nullable(),
  mode: z.enum(workModes),
  /** The name of its account; null uses the CLI's own login. */
  account: nameSchema.nullable(),
  budget: budgetSchema,
  access: z.enum(accessLevels),
  taskId: idSchema.nullable(),
  /** Its assignment; `activity` and `detail` say what it does now. A listing cuts it. */
  assignment: z.string().nullable(),
  /** Its latest change, and that change's state. */
  change: z.object({ id: idSchema, state: z.enum(changeStates), detail: z.string() }).nullable(),
  branch: z.string().nullable(),
  baseCommit: z.string().nullable(),
  /** Its worktree in its first project; the directory of an agent without a project. */
  worktree: z.string().nullable(),
  /** The directory above its worktrees, if it has several projects; its sessions run there. */
  workdir: z.string().nullable(),
  /** How a dead agent's worktree ended; null while it is in use or not settled. */
  worktreeEnd: worktreeEndSchema.nullable(),
  /** Its worktrees in further projects. */
  places: z.array(
    z.object({
      project: z.object({ id: idSchema, name: nameSchema }),
      path: z.string(),
      branch: z.string(),
      baseCommit: z.string(),
      end: worktreeEndSchema.nullable(),
    }),
  ),
  createdAt: timeSchema,
  endedAt: timeSchema.nullable(),
  /** Set for an agent that Pawl did not start, and only observes. */
  adopted: adoptedSchema.nullable(),
  paused: z.boolean(),
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
      /** Why it failed, if through an exceeded budget or a usage limit. */
      cause: runSchema.shape.cause,
      startedAt: timeSchema,
      endedAt: timeSchema.nullable(),
    })
    .nullable(),
  session: sessionSchema
    .pick({ id: true, no: true, pid: true, providerSessionId: true, exitCode: true, sandbox: true })
    .nullable(),
  usage: usageSchema,
  /** Its cost; null is unknown, since not every provider reports it. */
  cost: z.object({ usd: z.number().positive().nullable(), tokens: z.number().int().positive().nullable() }),
});
export type AgentView = z.infer<typeof agentViewSchema>;

export const agentAnswerSchema = z.object({ agent: agentViewSchema });
export type AgentAnswer = z.infer<typeof agentAnswerSchema>;

export const agentsAnswerSchema = z.object({ agents: z.array(agentViewSchema) });
export type AgentsAnswer = z.infer<typeof agentsAnswerSchema>;

export const agentListSchema = z.object({
  agents: z.array(agentViewSchema),
  more: z.boolean(),
  /** The agent that a person acts as; null if an agent asks. */
  current: idSchema.nullable(),
});
export type AgentList = z.infer<typeof agentListSchema>;

/** All details of one agent. */
export const inspectionSchema = z.object({
  agent: agentViewSchema,
  sessions: z.array(
    sessionSchema.extend({
      directory: z.string(),
      environment: z.array(z.string()),
      argv: z.array(z.string()),
    }),
  ),
  runs: z.array(runSchema),
  worktree: worktreeContentSchema.nullable(),
  /** The content of its worktrees in further projects, in the order of `agent.places`. */
  places: z.array(z.object({ project: nameSchema, worktree: worktreeContentSchema.nullable() })),
  /**
   * The location of its account's API key: with the proxy, so that no session has it, or in the session's environment, and
   * why. Null without an account.
   */
  key: z.object({ at: z.enum(['proxy', 'session']), why: z.string() }).nullable(),
  /** Commits on its branches that were not proposed, because its definition has no Patch. */
  withheld: z.array(
    z.object({ project: nameSchema, branch: z.string(), head: z.string(), definition: nameSchema, at: timeSchema }),
  ),
});
export type Inspection = z.infer<typeof inspectionSchema>;
