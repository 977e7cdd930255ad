import { eventSchema } from '@pawl/schema/event';
import { limits } from '@pawl/schema/limit';
import { errorCodes } from '@pawl/schema/error';
import { idSchema, nameSchema } from '@pawl/schema/id';
import { agentActions, agentClasses, agentKinds, definitionSchema } from '@pawl/schema/definition';
import {
  adoptedSchema,
  budgetSchema,
  projectSchema,
  runSchema,
  sessionSchema,
  timeSchema,
  usageSchema,
  workModes,
  worktreeEndSchema,
} from '@pawl/schema/record';
import { changeStates } from '@pawl/schema/change';
import { statusSchema } from '@pawl/schema/status';
import * as z from 'zod';
import { checksFoundSchema } from './view/checks.ts';
import { worktreeContentSchema } from './view/worktree.ts';

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

/** The PATH of the shell that asks: programs of coding agents are looked up there, not on the daemon's. */
const searchPath = word(limits.searchPathCharacters).optional();

/** What becomes of an agent's branch when the agent is done. */
const whenDoneSchema = z.object({
  outcome: z.enum(['nothing', 'checked', 'merged', 'merged-and-pushed']),
  text: z.string(),
});

/** How a project merges, once its configuration is committed. */
const mergingSchema = whenDoneSchema.extend({
  /** The target branch. */
  branch: z.string(),
  /** The remote that a merge pushes to. */
  remote: z.object({ name: z.string(), url: z.string() }).nullable(),
  pushAllowed: z.boolean(),
  /** That the configuration has to be committed first, with the commands; null when it is. */
  notCommitted: z.string().nullable(),
});
export type Merging = z.infer<typeof mergingSchema>;

export const addProjectSchema = z.object({
  path: word(4096),
  name: nameSchema.optional(),
  /** Finds out what its checks are, and writes that into its checkout when nothing is written there. */
  checks: z.boolean().optional(),
  /** The provider of the project's new agents; absent leaves the setting as it is. */
  provider: nameSchema.optional(),
  /** The configuration that is written lets changes go in without being asked for. */
  autoMerge: z.boolean().optional(),
});
export type AddProjectBody = z.infer<typeof addProjectSchema>;
export const projectAddedSchema = z.object({
  project: projectSchema,
  created: z.boolean(),
  /** It was known and untracked until now. */
  trackedAgain: z.boolean(),
  /** Null when nobody asked for it. */
  checks: checksFoundSchema.nullable(),
  /** What the configuration means for merging and pushing; null when it cannot be read. */
  merging: mergingSchema.nullable(),
});
export type ProjectAdded = z.infer<typeof projectAddedSchema>;

/** An agent as people and programs see it: its facts and the status derived from them. */
export const agentViewSchema = z.object({
  id: idSchema,
  alias: nameSchema,
  project: z.object({ id: idSchema, name: nameSchema }).nullable(),
  parentId: idSchema.nullable(),
  /** Who looks after it now: its parent, or the nearest living ancestor after that one was killed. */
  supervisorId: idSchema.nullable(),
  /** The last message of its parent that it inherits; 0 when it inherits nothing. */
  forkMessageId: z.number().int(),
  definition: nameSchema,
  kind: z.enum(agentKinds),
  class: z.enum(agentClasses),
  provider: nameSchema.nullable(),
  model: z.string().nullable(),
  mode: z.enum(workModes),
  /** Whose credentials it uses, by name; null leaves that to the CLI's own login. */
  account: nameSchema.nullable(),
  budget: budgetSchema,
  taskId: idSchema.nullable(),
  /** The work that it was given; what it does now is `activity` and `detail`. A listing cuts it. */
  assignment: z.string().nullable(),
  /** Its latest change, and what state that is in now. */
  change: z.object({ id: idSchema, state: z.enum(changeStates), detail: z.string() }).nullable(),
  branch: z.string().nullable(),
  baseCommit: z.string().nullable(),
  /** Its worktree in its first project; the directory of an agent without a project. */
  worktree: z.string().nullable(),
  /** The directory above its worktrees, where it has several projects; its sessions run there. */
  workdir: z.string().nullable(),
  /** What became of the worktree of a dead agent; null while it is in use or not settled. */
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
  /** Set for an agent that Pawl did not start, and only looks at. */
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
      /** Why it failed, where that is a passed budget or the provider's usage limit. */
      cause: runSchema.shape.cause,
      startedAt: timeSchema,
      endedAt: timeSchema.nullable(),
    })
    .nullable(),
  session: sessionSchema.pick({ id: true, no: true, pid: true, providerSessionId: true, exitCode: true }).nullable(),
  usage: usageSchema,
  /** What it has cost; null is unknown, since not every provider tells. */
  cost: z.object({ usd: z.number().positive().nullable(), tokens: z.number().int().positive().nullable() }),
});
export type AgentView = z.infer<typeof agentViewSchema>;

export const agentListSchema = z.object({
  agents: z.array(agentViewSchema),
  more: z.boolean(),
  /** The agent that a person acts as; null when an agent asks. */
  current: idSchema.nullable(),
});
export type AgentList = z.infer<typeof agentListSchema>;

export const workSchema = z.object({
  /** Any path inside the project; absent with `projects` or `noProject`. */
  path: word(4096).optional(),
  /** The agent's projects by name or absolute path, the first one first; it gets a worktree in each. */
  projects: z.array(word(4096)).min(1).max(limits.projectsOfAgent).optional(),
  /** The agent belongs to no project and works in a directory of its own. */
  noProject: z.boolean().optional(),
  task: z.string().max(limits.bodyBytes),
  /** What the new agent is to be; `worker` when absent. */
  definition: nameSchema.optional(),
  /** When absent: the definition's, the asking agent's, the project's, the home's, or the only one that is installed. */
  provider: z.string().min(1).max(64).optional(),
  alias: nameSchema.optional(),
  model: word(200).optional(),
  /** The commit, branch or tag to start from; the project's HEAD when absent. */
  base: z.string().min(1).max(200).optional(),
  options: z.record(z.string().max(64), word(4096)).optional(),
  /** What kind of work it is; the definition's own, or `execute`, when absent. */
  mode: z.enum(workModes).optional(),
  /** The account whose credentials are used; the provider's default one when absent. */
  account: nameSchema.optional(),
  /** What the agent may use before its running turn is stopped. */
  budget: budgetSchema.partial().optional(),
  /** The planned task to take up, by id or name, or `@next`: the first one that is ready. Its text stands in for the task. */
  planned: word(200).optional(),
  /** The chat thread that its run belongs to; an agent's children are in its own, others in `default`. */
  sessionId: nameSchema.optional(),
  /** Variables of the shell that asks, of which those that concern the provider are kept. Secrets go with the accounts. */
  environment: z.record(z.string().max(128), word(8192)).optional(),
  searchPath,
});
export type WorkBody = z.infer<typeof workSchema>;

/** A fork: of the caller, when that is an agent; of the named agent, the current one or agent 0, when it is a person. */
export const forkSchema = z.object({
  /** The child's first message. Without it, parent and child both wait for input. */
  prompt: z.string().max(limits.bodyBytes).optional(),
  model: word(200).optional(),
  alias: nameSchema.optional(),
  /** Carries the parent's staged, unstaged and untracked files into the child's worktree. */
  withFiles: z.boolean().optional(),
  /** False answers `busy` at once where a fork would have to wait for a tool or a half-written answer. */
  wait: z.boolean().optional(),
  /** Whether a person goes on as the child; the home's setting when absent. */
  switch: z.boolean().optional(),
  /** The project of the child, by name or absolute path, where its parent has none; without it the child has none either. */
  project: word(4096).optional(),
  /** Only for a fork of agent 0, which has neither: a path in the repository, and the provider. */
  path: word(4096).optional(),
  provider: z.string().min(1).max(64).optional(),
  options: z.record(z.string().max(64), word(4096)).optional(),
  searchPath,
});
export type ForkBody = z.infer<typeof forkSchema>;

/** Resumes an agent that rests, with a prompt or without one. */
export const resumeSchema = z.object({
  prompt: z.string().max(limits.bodyBytes).optional(),
  /** Limits that replace its own, counted from its first session; null removes one. */
  budget: budgetSchema.partial().optional(),
  searchPath,
});
export type ResumeBody = z.infer<typeof resumeSchema>;

/** A word to an agent that is at work, or rests after it was. */
export const tellSchema = z.object({ message: z.string().min(1).max(limits.bodyBytes) });
export const tellAnswerSchema = z.object({
  agent: agentViewSchema,
  /** `live`: handed to the process that runs; `resumed`: a new session begins with it. */
  channel: z.enum(['live', 'resumed']),
});
export type TellAnswer = z.infer<typeof tellAnswerSchema>;

/** Answers to the questions that an agent left, by their ids; one text answers a single question. */
export const replySchema = z.object({
  answers: z.record(z.string().max(200), z.string().max(limits.messageCharacters)).optional(),
  answer: z.string().max(limits.messageCharacters).optional(),
  /** Nobody is there to answer: it decides itself. */
  notNow: z.boolean().optional(),
  /** For a permission: yes or no. */
  allow: z.boolean().optional(),
});
export type ReplyBody = z.infer<typeof replySchema>;

export const killSchema = z.object({
  /** With all its descendants. */
  cascade: z.boolean().optional(),
});
export const killAnswerSchema = z.object({
  target: agentViewSchema,
  /** All that died, children before parents; empty when the target was dead already. */
  killed: z.array(z.object({ id: idSchema, alias: nameSchema })),
  /** Children that live on under another supervisor. */
  resupervised: z.array(z.object({ id: idSchema, alias: nameSchema })),
});
export type KillAnswer = z.infer<typeof killAnswerSchema>;

export const agentsAnswerSchema = z.object({ agents: z.array(agentViewSchema) });
export type AgentsAnswer = z.infer<typeof agentsAnswerSchema>;
export const cancelAnswerSchema = z.object({ cancelled: z.array(idSchema) });

export const emptySchema = z.object({});
/** What can be said about the agents that may be started in a project. */
export const definitionListSchema = z.object({
  definitions: z.array(definitionSchema),
  problems: z.array(z.object({ path: z.string(), line: z.number().int(), reason: z.string() })),
  /** What a repository's file asks for and does not get until a person trusts it. */
  notices: z.array(z.object({ path: z.string(), line: z.number().int(), reason: z.string() })),
});
export type DefinitionList = z.infer<typeof definitionListSchema>;
export const trustAnswerSchema = z.object({ project: nameSchema, files: z.array(z.string()) });
export type TrustAnswer = z.infer<typeof trustAnswerSchema>;

/** Whether an agent may use a tool or take an action: what a provider's hook asks before it lets it. */
export const gateSchema = z.object({
  tool: z.string().min(1).max(200).optional(),
  input: z.string().max(limits.messageCharacters).optional(),
  action: z.enum(agentActions).optional(),
});
export const gateAnswerSchema = z.object({ allowed: z.boolean(), reason: z.string() });
export type GateAnswer = z.infer<typeof gateAnswerSchema>;

/** What the machine spends on the agents that run. */
export const topSchema = z.object({
  daemon: z.object({ memoryBytes: z.number().int(), uptimeMs: z.number().int() }),
  counts: z.record(z.string(), z.number().int()),
  agents: z.array(
    agentViewSchema.extend({
      cpuMs: z.number().nullable(),
      memoryBytes: z.number().int().nullable(),
      processes: z.number().int(),
    }),
  ),
});
export type Top = z.infer<typeof topSchema>;

export const agentAnswerSchema = z.object({ agent: agentViewSchema });
export type AgentAnswer = z.infer<typeof agentAnswerSchema>;
export const workAnswerSchema = agentAnswerSchema.extend({
  /** What becomes of its branch when it is done, by the project's configuration as it is now; null when nothing does by itself. */
  whenDone: whenDoneSchema.nullable(),
  /** That it starts without commits that only the local target branch has; null when it does not. */
  baseNote: z.string().nullable(),
});
export type WorkAnswer = z.infer<typeof workAnswerSchema>;

/** Everything there is to know about one agent. */
export const inspectionSchema = z.object({
  agent: agentViewSchema,
  sessions: z.array(
    sessionSchema.extend({ directory: z.string(), environment: z.array(z.string()), argv: z.array(z.string()) }),
  ),
  runs: z.array(runSchema),
  worktree: worktreeContentSchema.nullable(),
  /** What is in its worktrees in further projects, in the order of `agent.places`. */
  places: z.array(z.object({ project: nameSchema, worktree: worktreeContentSchema.nullable() })),
  /** Commits on its branches that were not proposed, because its definition has no Patch. */
  withheld: z.array(
    z.object({ project: nameSchema, branch: z.string(), head: z.string(), definition: nameSchema, at: timeSchema }),
  ),
});
export type Inspection = z.infer<typeof inspectionSchema>;

export const eventPageSchema = z.object({ events: z.array(eventSchema), lastSeq: z.number().int() });
export type EventPage = z.infer<typeof eventPageSchema>;

export const stoppingSchema = z.object({ stopping: z.literal(true), pid: z.number().int() });
