import * as z from 'zod';
import { outcomeSchema } from './runtime/outcome.ts';
import { agentClasses, agentKinds, definitionSchema, interactions } from './definition.ts';
import { accessLevels } from './access-level.ts';
import { idSchema, nameSchema } from './id.ts';
import { faults } from './stream-event.ts';

/** Milliseconds since 1970. Order is by `seq` or id, never by time. */
export const timeSchema = z.number().int();

const runOutcomes = ['completed', 'failed', 'cancelled'] as const;

/** Message kinds that a model sees in a replayed conversation. */
export const conversationKinds = ['system', 'user', 'assistant', 'tool_call', 'tool_result', 'summary'] as const;
/** Message kinds that are stored and shown, but never sent to a model. */
const noteKinds = ['clear', 'mark', 'rewind', 'fork', 'agent_killed', 'command'] as const;
export const messageKinds = [...conversationKinds, ...noteKinds] as const;

export const outputStreams = ['stdout', 'stderr'] as const;

export const projectSchema = z.object({
  id: idSchema,
  name: nameSchema,
  /** Canonical path of the work tree, or of a bare repository. */
  root: z.string(),
  createdAt: timeSchema,
});
export type Project = z.infer<typeof projectSchema>;

/** A person's decisions about a project. Stored in the home, so nothing in the repository can change it. */
export const projectSettingsSchema = z.object({
  /** The provider of new agents that name none; null leaves it to the home's configuration. */
  provider: nameSchema.nullable(),
  /** When a person allowed Pawl to push to the target branch of the project's remote; null forbids it. */
  pushAllowedAt: timeSchema.nullable(),
  /** When the crew was requested; null if it is not wanted. */
  crewWantedAt: timeSchema.nullable(),
  /** When the project was untracked. Its rows stay; no queue or crew runs for it. */
  untrackedAt: timeSchema.nullable(),
  /** How its agents work: with a person who answers, or until they are finished; null for the default. */
  interaction: z.enum(interactions).nullable(),
});
export type ProjectSettings = z.infer<typeof projectSettingsSchema>;

/** How a dead agent's worktree ended. Null until that is settled. */
export const worktreeEndSchema = z.discriminatedUnion('state', [
  /** Moved to the trash; `entry` names it there. */
  z.object({ state: z.literal('trashed'), entry: z.string(), at: timeSchema }),
  /** Kept, because something in it would be lost, or on request. */
  z.object({ state: z.literal('retained'), reason: z.string(), at: timeSchema }),
  /** Restored from the trash by a person, who owns it now. */
  z.object({ state: z.literal('restored'), at: timeSchema }),
  /** Nothing was at its path. */
  z.object({ state: z.literal('missing'), at: timeSchema }),
]);
export type WorktreeEnd = z.infer<typeof worktreeEndSchema>;

/** The kind of work; each has its own prompt. */
export const workModes = [
  'execute',
  'discuss',
  'plan',
  'detail',
  'refine',
  'verify',
  'merge',
  'review',
  'refine-chat',
  'conflict-resolution',
  'errand',
  'coordinate',
  'converse',
  'answer',
] as const;
export type WorkMode = (typeof workModes)[number];

/** Limits that stop a running turn; null is no limit. */
export const budgetSchema = z.object({
  tokens: z.number().int().positive().nullable(),
  turns: z.number().int().positive().nullable(),
  minutes: z.number().positive().nullable(),
  usd: z.number().positive().nullable(),
});
export type Budget = z.infer<typeof budgetSchema>;
export const noBudget: Budget = { tokens: null, turns: null, minutes: null, usd: null };

/** An agent's own report of its end, by `pawl complete`: its worktree is settled once its process has exited. */
export const completionSchema = z.object({
  at: timeSchema,
  summary: z.string().nullable(),
  /** Why it failed; null if it did not. */
  failure: z.string().nullable(),
});

/** A foreign process found by the roster. Pawl observes it and never touches it. */
export const adoptedSchema = z.object({ pid: z.number().int().positive(), start: z.string(), cwd: z.string() });

/** An agent: identity and facts, never a status. Rows are never deleted. */
export const agentSchema = z.object({
  id: idSchema,
  alias: nameSchema,
  /** Null only for agent 0 and agents without a project. */
  projectId: idSchema.nullable(),
  /** Null only for agent 0. */
  parentId: idSchema.nullable(),
  /** Its supervisor: its parent, or, after that one was killed, the nearest living ancestor. */
  supervisorId: idSchema.nullable(),
  /** The parent's last message that the child inherits; 0 inherits nothing. Like the parent, it never changes. */
  forkMessageId: z.number().int(),
  /** The provider's id of the parent's conversation at the fork, for providers that can fork it. */
  forkedConversation: z.string().nullable(),
  /** The parent's uncommitted files at the fork: a commit in Pawl's own git directory. */
  snapshot: z.string().nullable(),
  /** Sessions up to this number belong to a cleared or rewound conversation, and are not resumed. */
  freshAfter: z.number().int().nonnegative(),
  definition: nameSchema,
  kind: z.enum(agentKinds),
  class: z.enum(agentClasses),
  provider: nameSchema.nullable(),
  model: z.string().nullable(),
  /** Options of the provider's preset, such as the scripted provider's scenario. */
  options: z.record(z.string(), z.string()),
  /** The mode whose prompt it gets. */
  mode: z.enum(workModes),
  /** The account of its sessions; null uses the CLI's own login. */
  accountId: idSchema.nullable(),
  /** Provider settings from the requesting shell: base URLs and the like, never a secret. */
  environment: z.record(z.string(), z.string()),
  /** Limits over all its sessions. */
  budget: budgetSchema,
  /** Its access to the machine; never wider than its parent's. */
  access: z.enum(accessLevels),
  /** `sandbox` if its access was given because its sessions run in one; null if a person gave it. */
  accessNeeds: z.literal('sandbox').nullable(),
  /** `off` if its sessions have the key of their account themselves; null lets the proxy keep it where it can. */
  keyProxy: z.literal('off').nullable(),
  /** The planned task that it works on. */
  taskId: idSchema.nullable(),
  /** Its assignment, as shown everywhere; not the prompts of its turns. Null before it has any. */
  assignment: z.string().nullable(),
  branch: z.string().nullable(),
  baseCommit: z.string().nullable(),
  /** Its git worktree; for an agent without a project, its plain directory. */
  worktree: z.string().nullable(),
  /** The directory of its sessions, if that is not `worktree`: the parent of several worktrees. */
  workdir: z.string().nullable(),
  worktreeReadyAt: timeSchema.nullable(),
  worktreeEnd: worktreeEndSchema.nullable(),
  createdAt: timeSchema,
  stopRequestedAt: timeSchema.nullable(),
  /** It has completed, and is being cleaned up. */
  completion: completionSchema.nullable(),
  /** Set for an agent that Pawl did not start. */
  adopted: adoptedSchema.nullable(),
  /** It makes no progress, for this reason; it is not ended for that. */
  stuckAt: timeSchema.nullable(),
  stuckReason: z.string().nullable(),
  endedAt: timeSchema.nullable(),
  endReason: z.string().nullable(),
  /** A dead agent that a person has hidden. */
  reapedAt: timeSchema.nullable(),
});
export type Agent = z.infer<typeof agentSchema>;

/** A worktree of an agent in a further project; the first one is in the agent's own record. */
export const agentPlaceSchema = z.object({
  agentId: idSchema,
  projectId: idSchema,
  /** Its position among the agent's projects: 1 is the second one. */
  no: z.number().int().positive(),
  path: z.string(),
  branch: z.string(),
  baseCommit: z.string(),
  /** The parent's uncommitted files in this project at the fork, as in the agent's record. */
  snapshot: z.string().nullable(),
  readyAt: timeSchema.nullable(),
  end: worktreeEndSchema.nullable(),
});
export type AgentPlace = z.infer<typeof agentPlaceSchema>;

export const usageSchema = z.object({
  inputTokens: z.number().int().nonnegative(),
  outputTokens: z.number().int().nonnegative(),
  cachedTokens: z.number().int().nonnegative(),
  costUsd: z.number().nonnegative(),
  turns: z.number().int().nonnegative(),
});
export type Usage = z.infer<typeof usageSchema>;
export const noUsage: Usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, costUsd: 0, turns: 0 };

/** The provider's own report on the end of a turn. */
const providerResultSchema = z.object({
  ok: z.boolean(),
  text: z.string(),
  fault: z.enum(faults).nullable().default(null),
  /** How the agent itself ended its work; absent if it only answered. */
  outcome: outcomeSchema.optional(),
});
export type ProviderResult = z.infer<typeof providerResultSchema>;

/** One process lifetime of an agent, numbered 1, 2, 3… */
export const sessionSchema = z.object({
  id: idSchema,
  agentId: idSchema,
  runId: idSchema,
  no: z.number().int().positive(),
  /**
   * Its purpose: to start a run, to ask for its signal, to continue after an interruption, an error or a limit, to
   * commit.
   */
  purpose: z.enum(['work', 'missing-signal', 'interrupted', 'retry', 'account', 'commit', 'output']),
  /** How it continues the agent's conversation. */
  conversation: z.enum(['new', 'resume', 'fork', 'replay']),
  providerSessionId: z.string().nullable(),
  /** The account it uses; null uses the CLI's own login. */
  accountId: idSchema.nullable(),
  plannedAt: timeSchema,
  /** Null until the process is known to run. */
  startedAt: timeSchema.nullable(),
  pid: z.number().int().nullable(),
  /** With the pid, the identity of the process: start time and boot. */
  processStart: z.string().nullable(),
  /** Whether it runs in a sandbox; null before it starts, and in sessions of earlier releases. */
  sandbox: z.enum(['on', 'off']).nullable(),
  /** Its processes are paused while this is set. */
  pausedAt: timeSchema.nullable(),
  /** When a person last interrupted it. */
  interruptedAt: timeSchema.nullable(),
  endedAt: timeSchema.nullable(),
  exitCode: z.number().int().nullable(),
  endReason: z.string().nullable(),
  usage: usageSchema,
  /** The provider's last report for the whole conversation, the baseline for a later session's. */
  reported: usageSchema.nullable(),
  result: providerResultSchema.nullable(),
  /** A usage limit reported by the provider: 0 if it gave no end. */
  limitUntil: timeSchema.nullable(),
});
export type Session = z.infer<typeof sessionSchema>;

/** Whose budget a run exceeded: its agent's, its own, or its project's of the last day. */
export const budgetOwners = ['agent', 'task', 'project'] as const;

/** Why a run failed, if not through the agent: an exceeded budget, or a usage limit. */
const runCauseSchema = z.discriminatedUnion('reason', [
  z.object({ reason: z.literal('budget'), of: z.enum(budgetOwners), detail: z.string() }),
  z.object({ reason: z.literal('limit') }),
]);
export type RunCause = z.infer<typeof runCauseSchema>;

/** The default chat thread. */
export const usualThread = 'default';

/** One unit of work. `outcome` is null while it runs. */
export const runSchema = z.object({
  id: idSchema,
  /** Its repository's root at the start; null for an agent without a project. */
  repoPath: z.string().nullable(),
  /** Its chat thread. Not a session id: a run may have several sessions. */
  sessionId: nameSchema,
  /** Null for an agent without a project. */
  projectId: idSchema.nullable(),
  agentId: idSchema,
  agentKind: z.enum(agentKinds),
  parentRunId: idSchema.nullable(),
  task: z.string(),
  /** The agent's definition at the start of the run; later edits affect only later runs. */
  definition: definitionSchema.nullable(),
  startedAt: timeSchema,
  endedAt: timeSchema.nullable(),
  outcome: z.enum(runOutcomes).nullable(),
  detail: z.string().nullable(),
  /** The agent's questions for a person, if it ended with some. */
  questions: z.array(z.object({ id: z.string(), question: z.string() })).nullable(),
  /** Its result before it was asked to commit leftovers. */
  resultBefore: z.string().nullable(),
  /** It does not continue before this time, for this reason. */
  waitUntil: timeSchema.nullable(),
  waitFor: z.enum(['account', 'retry']).nullable(),
  /** Only for a failed run whose cause is known not to be the agent. */
  cause: runCauseSchema.nullable(),
});
export type Run = z.infer<typeof runSchema>;

export const messageSchema = z.object({
  id: z.number().int(),
  agentId: idSchema,
  /** Its run and session, if any. */
  runId: idSchema.nullable(),
  sessionId: idSchema.nullable(),
  kind: z.enum(messageKinds),
  content: z.string(),
  /** Data of its kind: a tool's name and call id, a fork's other side, a mark's label. */
  data: z.record(z.string(), z.unknown()).nullable(),
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

/** The origin of an account's credentials, which decides how they reach the CLI. */
const accountKinds = ['api-key', 'token', 'directory', 'shell'] as const;

/** Credentials for one provider. Secrets are in the account's own directory, not here. */
export const accountSchema = z.object({
  id: idSchema,
  provider: nameSchema,
  name: nameSchema,
  kind: z.enum(accountKinds),
  email: z.string().nullable(),
  /** Its server; null is the provider's own. */
  baseUrl: z.string().nullable(),
  /** `off` if sessions get its key itself; null lets the proxy keep it where it can. */
  keyProxy: z.literal('off').nullable(),
  createdAt: timeSchema,
  lastUsedAt: timeSchema.nullable(),
  /** When its usage limit ends. */
  exhaustedUntil: timeSchema.nullable(),
  /** Consecutive limits without an end: each makes the next wait longer. */
  strikes: z.number().int().nonnegative(),
  /** Why it cannot be used, such as an expired login. */
  invalidReason: z.string().nullable(),
  removedAt: timeSchema.nullable(),
});
export type Account = z.infer<typeof accountSchema>;

export const taskStates = [
  'pending',
  'in_progress',
  'in_review',
  'completed',
  'blocked',
  'skipped',
  'cancelled',
] as const;

/** The most urgent first. */
export const taskPriorities = ['high', 'medium', 'low'] as const;

/** A planned task. Its state is derived from the runs of its agents. */
export const taskSchema = z.object({
  id: idSchema,
  projectId: idSchema,
  /** Tasks of one phase are siblings. */
  phase: z.string(),
  name: z.string(),
  description: z.string(),
  /** Tasks that must be completed first. */
  dependsOn: z.array(idSchema),
  /** The agent that requested it; null for a person. */
  createdBy: idSchema.nullable(),
  createdAt: timeSchema,
  /** Its result, passed to dependents. */
  summary: z.string().nullable(),
  /** When an agent finished the work; the task completes once its change has landed. */
  finishedAt: timeSchema.nullable(),
  completedAt: timeSchema.nullable(),
  /** Why it must not be started. */
  blockedReason: z.string().nullable(),
  /** How often an agent has crashed on it. */
  crashes: z.number().int().nonnegative(),
  /** The agent that has it: while it works, and until its work has landed. */
  agentId: idSchema.nullable(),
  /** Its initiative and the phase there; null for a task of the project alone. */
  initiativeId: idSchema.nullable(),
  phaseId: idSchema.nullable(),
  priority: z.enum(taskPriorities),
  /** Paths and globs that it owns. */
  files: z.array(z.string()),
  /** It runs only after one of these has failed. */
  ifFailed: z.array(idSchema),
  /** The task during which an agent found it necessary. */
  foundWhile: idSchema.nullable(),
  /** When its agents gave up, or its change was closed; null again once it is unblocked. */
  failedAt: timeSchema.nullable(),
  cancelledAt: timeSchema.nullable(),
  /** The definition that should do it; null for any. */
  definition: z.string().nullable().default(null),
  /** The phase whose review requested it. Such a task is no part of the approved content. */
  revises: idSchema.nullable().default(null),
});
export type Task = z.infer<typeof taskSchema>;

/** The fields of a task that belongs to its project alone. */
export const noInitiative = {
  initiativeId: null,
  phaseId: null,
  priority: 'medium',
  files: [],
  ifFailed: [],
  foundWhile: null,
  failedAt: null,
  cancelledAt: null,
  definition: null,
  revises: null,
} satisfies Partial<Task>;
