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

/** The body of every failed request. */
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
  /** Why the daemon cannot write now, such as a full disk; null if it can. */
  trouble: z.string().nullable(),
});
export type DaemonView = z.infer<typeof daemonViewSchema>;

export const projectListSchema = z.object({ projects: z.array(projectSchema) });
/** A path or another command argument: no system allows a NUL in one. */
const word = (characters: number) =>
  z
    .string()
    .min(1)
    .max(characters)
    .refine((text) => !text.includes('\0'), 'must not contain a NUL character');

/** The PATH of the requesting shell, where coding agents' programs are looked up instead of the daemon's. */
const searchPath = word(limits.searchPathCharacters).optional();

/** What happens to an agent's branch when the agent is done. */
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
  /** Says that the configuration must be committed first, with the commands; null if it is. */
  notCommitted: z.string().nullable(),
});
export type Merging = z.infer<typeof mergingSchema>;

export const addProjectSchema = z.object({
  path: word(4096),
  name: nameSchema.optional(),
  /** Detects its checks, and writes them into its checkout if there is no configuration. */
  checks: z.boolean().optional(),
  /** The provider of the project's new agents; absent leaves the setting unchanged. */
  provider: nameSchema.optional(),
  /** The written configuration merges changes automatically. */
  autoMerge: z.boolean().optional(),
});
export type AddProjectBody = z.infer<typeof addProjectSchema>;
export const projectAddedSchema = z.object({
  project: projectSchema,
  created: z.boolean(),
  /** It was known and untracked before. */
  trackedAgain: z.boolean(),
  /** Null if not requested. */
  checks: checksFoundSchema.nullable(),
  /** The effect of the configuration on merging and pushing; null if it cannot be read. */
  merging: mergingSchema.nullable(),
});
export type ProjectAdded = z.infer<typeof projectAddedSchema>;

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
  /** What happened to a dead agent's worktree; null while it is in use or not settled. */
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
  session: sessionSchema.pick({ id: true, no: true, pid: true, providerSessionId: true, exitCode: true }).nullable(),
  usage: usageSchema,
  /** Its cost; null is unknown, since not every provider reports it. */
  cost: z.object({ usd: z.number().positive().nullable(), tokens: z.number().int().positive().nullable() }),
});
export type AgentView = z.infer<typeof agentViewSchema>;

export const agentListSchema = z.object({
  agents: z.array(agentViewSchema),
  more: z.boolean(),
  /** The agent that a person acts as; null if an agent asks. */
  current: idSchema.nullable(),
});
export type AgentList = z.infer<typeof agentListSchema>;

export const workSchema = z.object({
  /** Any path inside the project; absent with `projects` or `noProject`. */
  path: word(4096).optional(),
  /** The agent's projects by name or absolute path, the first one first; it gets a worktree in each. */
  projects: z.array(word(4096)).min(1).max(limits.projectsOfAgent).optional(),
  /** The agent has no project and works in its own directory. */
  noProject: z.boolean().optional(),
  task: z.string().max(limits.bodyBytes),
  /** The definition; `worker` by default. */
  definition: nameSchema.optional(),
  /** By default: the definition's, the asking agent's, the project's, the home's, or the only one installed. */
  provider: z.string().min(1).max(64).optional(),
  alias: nameSchema.optional(),
  model: word(200).optional(),
  /** The commit, branch or tag to start from; by default the project's HEAD. */
  base: z.string().min(1).max(200).optional(),
  options: z.record(z.string().max(64), word(4096)).optional(),
  /** The mode; by default the definition's own, or `execute`. */
  mode: z.enum(workModes).optional(),
  /** The account; by default the provider's default one. */
  account: nameSchema.optional(),
  /** Limits that stop the agent's running turn. */
  budget: budgetSchema.partial().optional(),
  /** The planned task, by id or name, or `@next`: the first one that is ready. Its text replaces the task. */
  planned: word(200).optional(),
  /** The chat thread of its run; an agent's children share its own, others use `default`. */
  sessionId: nameSchema.optional(),
  /** Variables of the requesting shell, of which those for the provider are kept. Secrets go to accounts. */
  environment: z.record(z.string().max(128), word(8192)).optional(),
  searchPath,
});
export type WorkBody = z.infer<typeof workSchema>;

/** A fork: of the caller, if that is an agent; of the named agent, the current one or agent 0, if it is a person. */
export const forkSchema = z.object({
  /** The child's first message. Without it, parent and child both wait for input. */
  prompt: z.string().max(limits.bodyBytes).optional(),
  model: word(200).optional(),
  alias: nameSchema.optional(),
  /** Carries the parent's staged, unstaged and untracked files into the child's worktree. */
  withFiles: z.boolean().optional(),
  /** False answers `busy` at once if a fork would have to wait for a tool or an unfinished answer. */
  wait: z.boolean().optional(),
  /** Whether to switch the person to the child; by default the home's setting. */
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

/** Resumes an idle agent, with or without a prompt. */
export const resumeSchema = z.object({
  prompt: z.string().max(limits.bodyBytes).optional(),
  /** Limits that replace its own, counted from its first session; null removes one. */
  budget: budgetSchema.partial().optional(),
  searchPath,
});
export type ResumeBody = z.infer<typeof resumeSchema>;

/** A message to a working or idle agent. */
export const tellSchema = z.object({ message: z.string().min(1).max(limits.bodyBytes) });
export const tellAnswerSchema = z.object({
  agent: agentViewSchema,
  /** `live`: sent to the running process; `resumed`: a new session starts with it. */
  channel: z.enum(['live', 'resumed']),
});
export type TellAnswer = z.infer<typeof tellAnswerSchema>;

/** Answers to the questions that an agent left, by their ids; one text answers a single question. */
export const replySchema = z.object({
  answers: z.record(z.string().max(200), z.string().max(limits.messageCharacters)).optional(),
  answer: z.string().max(limits.messageCharacters).optional(),
  /** Nobody is there to answer: the agent decides. */
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
  /** All that died, children before parents; empty if the target was already dead. */
  killed: z.array(z.object({ id: idSchema, alias: nameSchema })),
  /** Children that live on under another supervisor. */
  resupervised: z.array(z.object({ id: idSchema, alias: nameSchema })),
});
export type KillAnswer = z.infer<typeof killAnswerSchema>;

export const agentsAnswerSchema = z.object({ agents: z.array(agentViewSchema) });
export type AgentsAnswer = z.infer<typeof agentsAnswerSchema>;
export const cancelAnswerSchema = z.object({ cancelled: z.array(idSchema) });

export const emptySchema = z.object({});
/** Problems and notices about the definitions of a project. */
export const definitionListSchema = z.object({
  definitions: z.array(definitionSchema),
  problems: z.array(z.object({ path: z.string(), line: z.number().int(), reason: z.string() })),
  /** What a repository's file requests and gets only with a person's trust. */
  notices: z.array(z.object({ path: z.string(), line: z.number().int(), reason: z.string() })),
});
export type DefinitionList = z.infer<typeof definitionListSchema>;
export const trustAnswerSchema = z.object({ project: nameSchema, files: z.array(z.string()) });
export type TrustAnswer = z.infer<typeof trustAnswerSchema>;

/** Whether an agent may use a tool or take an action; asked by a provider's hook. */
export const gateSchema = z.object({
  tool: z.string().min(1).max(200).optional(),
  input: z.string().max(limits.messageCharacters).optional(),
  action: z.enum(agentActions).optional(),
});
export const gateAnswerSchema = z.object({ allowed: z.boolean(), reason: z.string() });
export type GateAnswer = z.infer<typeof gateAnswerSchema>;

/** The resource use of running agents. */
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
  /**
   * What happens to its branch when it is done, by the current configuration; null if nothing happens automatically.
   */
  whenDone: whenDoneSchema.nullable(),
  /** Says that it starts without commits that only the local target branch has; null if it does not. */
  baseNote: z.string().nullable(),
});
export type WorkAnswer = z.infer<typeof workAnswerSchema>;

/** All details of one agent. */
export const inspectionSchema = z.object({
  agent: agentViewSchema,
  sessions: z.array(
    sessionSchema.extend({ directory: z.string(), environment: z.array(z.string()), argv: z.array(z.string()) }),
  ),
  runs: z.array(runSchema),
  worktree: worktreeContentSchema.nullable(),
  /** The content of its worktrees in further projects, in the order of `agent.places`. */
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
