import * as z from 'zod';
import { agentClasses, agentKinds, definitionSchema } from './definition.ts';
import { idSchema, nameSchema } from './id.ts';
import { faults } from './stream-event.ts';

/** Milliseconds since 1970. Order is by `seq` or id, never by time. */
export const timeSchema = z.number().int();

const runOutcomes = ['completed', 'failed', 'cancelled'] as const;

/** What a model is told when a conversation is replayed. */
export const conversationKinds = ['system', 'user', 'assistant', 'tool_call', 'tool_result'] as const;
/** What is stored and shown, but never sent to a model. */
const noteKinds = ['clear', 'mark', 'rewind', 'fork', 'agent_killed', 'command'] as const;
export const messageKinds = [...conversationKinds, ...noteKinds] as const;

export const outputStreams = ['stdout', 'stderr'] as const;

export const projectSchema = z.object({
  id: idSchema,
  name: nameSchema,
  /** Canonical path of the work tree, or of the repository when it is bare. */
  root: z.string(),
  createdAt: timeSchema,
});
export type Project = z.infer<typeof projectSchema>;

/** What a person has decided about a project. Kept in the home, so nothing in the repository can change it. */
export const projectSettingsSchema = z.object({
  /** The provider of new agents that name none; null leaves it to the home's configuration. */
  provider: nameSchema.nullable(),
  /** When a person allowed Pawl to push to the target branch of the project's remote; null forbids it. */
  pushAllowedAt: timeSchema.nullable(),
  /** When the supervisor, merge-queue and workspace agents were asked for; null when they are not wanted. */
  crewWantedAt: timeSchema.nullable(),
  /** When the project was untracked. Its rows stay; no queue or crew runs for it. */
  untrackedAt: timeSchema.nullable(),
});
export type ProjectSettings = z.infer<typeof projectSettingsSchema>;

/** What became of a dead agent's worktree. Null as long as that is not settled. */
export const worktreeEndSchema = z.discriminatedUnion('state', [
  /** Moved to the trash; `entry` names it there. */
  z.object({ state: z.literal('trashed'), entry: z.string(), at: timeSchema }),
  /** Left where it is, because something in it would be lost, or somebody asked for it. */
  z.object({ state: z.literal('retained'), reason: z.string(), at: timeSchema }),
  /** Taken back from the trash by a person, who looks after it now. */
  z.object({ state: z.literal('restored'), at: timeSchema }),
  /** There was nothing at its place. */
  z.object({ state: z.literal('missing'), at: timeSchema }),
]);
export type WorktreeEnd = z.infer<typeof worktreeEndSchema>;

/** What kind of work an agent does; each has a prompt of its own. */
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
] as const;
export type WorkMode = (typeof workModes)[number];

/** What may be used before a running turn is stopped; null is no limit. */
export const budgetSchema = z.object({
  tokens: z.number().int().positive().nullable(),
  turns: z.number().int().positive().nullable(),
  minutes: z.number().positive().nullable(),
  usd: z.number().positive().nullable(),
});
export type Budget = z.infer<typeof budgetSchema>;
export const noBudget: Budget = { tokens: null, turns: null, minutes: null, usd: null };

/** What an agent said about its own end, by `pawl complete`: its worktree is settled as soon as its process has left. */
export const completionSchema = z.object({
  at: timeSchema,
  summary: z.string().nullable(),
  /** Why it could not be done; null when it was. */
  failure: z.string().nullable(),
});

/** A process that somebody else started and the roster has found. Pawl looks at it and never touches it. */
export const adoptedSchema = z.object({ pid: z.number().int().positive(), start: z.string(), cwd: z.string() });

/** Who: identity and facts, never a status. Rows are never deleted. */
export const agentSchema = z.object({
  id: idSchema,
  alias: nameSchema,
  /** Null only for agent 0 and what belongs to no project. */
  projectId: idSchema.nullable(),
  /** Null only for agent 0. */
  parentId: idSchema.nullable(),
  /** Who looks after it: its parent, or, after that one was killed, the nearest ancestor that lives. */
  supervisorId: idSchema.nullable(),
  /** The parent's last message that the child inherits; 0 inherits nothing. With the parent, it never changes. */
  forkMessageId: z.number().int(),
  /** The provider's own id of the parent's conversation at the fork, for providers that can branch off it. */
  forkedConversation: z.string().nullable(),
  /** The parent's uncommitted files as they were at the fork: a commit in Pawl's own git directory. */
  snapshot: z.string().nullable(),
  /** Sessions up to this number belong to a conversation that was cleared or rewound, and are not resumed. */
  freshAfter: z.number().int().nonnegative(),
  definition: nameSchema,
  kind: z.enum(agentKinds),
  class: z.enum(agentClasses),
  provider: nameSchema.nullable(),
  model: z.string().nullable(),
  /** What the provider's preset lets a person choose, such as the scripted provider's scenario. */
  options: z.record(z.string(), z.string()),
  /** What it is to do in general: the mode whose prompt it gets. */
  mode: z.enum(workModes),
  /** Whose credentials its sessions use; null leaves that to the CLI's own login. */
  accountId: idSchema.nullable(),
  /** What the shell that asked for it said about the provider: base URLs and the like, never a secret. */
  environment: z.record(z.string(), z.string()),
  /** What all its sessions together may use. */
  budget: budgetSchema,
  /** The planned task that it works on. */
  taskId: idSchema.nullable(),
  /** The work that it was given, as it is shown everywhere; the prompts of its turns are not. Null before it has any. */
  assignment: z.string().nullable(),
  branch: z.string().nullable(),
  baseCommit: z.string().nullable(),
  /** Its git worktree; for an agent without a project, the plain directory that it works in. */
  worktree: z.string().nullable(),
  /** The directory its sessions run in, where that is not `worktree`: the parent of the worktrees of several projects. */
  workdir: z.string().nullable(),
  worktreeReadyAt: timeSchema.nullable(),
  worktreeEnd: worktreeEndSchema.nullable(),
  createdAt: timeSchema,
  stopRequestedAt: timeSchema.nullable(),
  /** It has said that it is done for good, and is cleaned up after. */
  completion: completionSchema.nullable(),
  /** Set for an agent that Pawl did not start. */
  adopted: adoptedSchema.nullable(),
  /** It makes no progress, for this reason; nobody is ended for that. */
  stuckAt: timeSchema.nullable(),
  stuckReason: z.string().nullable(),
  endedAt: timeSchema.nullable(),
  endReason: z.string().nullable(),
  /** A dead agent that a person has put out of sight. */
  reapedAt: timeSchema.nullable(),
});
export type Agent = z.infer<typeof agentSchema>;

/** A worktree of an agent in a project beside its first one, whose worktree is in the agent's own record. */
export const agentPlaceSchema = z.object({
  agentId: idSchema,
  projectId: idSchema,
  /** Its position among the agent's projects: 1 is the second one named. */
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

/** What the provider itself said about the end of a turn. */
const providerResultSchema = z.object({
  ok: z.boolean(),
  text: z.string(),
  fault: z.enum(faults).nullable().default(null),
});
export type ProviderResult = z.infer<typeof providerResultSchema>;

/** One process lifetime of an agent, numbered 1, 2, 3… */
export const sessionSchema = z.object({
  id: idSchema,
  agentId: idSchema,
  runId: idSchema,
  no: z.number().int().positive(),
  /** Why it was planned: to begin a run, to ask for its signal, to go on after an interruption, an error or a limit, to commit. */
  purpose: z.enum(['work', 'missing-signal', 'interrupted', 'retry', 'account', 'commit']),
  /** How it takes up the agent's conversation. */
  conversation: z.enum(['new', 'resume', 'fork', 'replay']),
  providerSessionId: z.string().nullable(),
  /** Whose credentials it uses; null leaves that to the CLI's own login. */
  accountId: idSchema.nullable(),
  plannedAt: timeSchema,
  /** Null until the process is known to run. */
  startedAt: timeSchema.nullable(),
  pid: z.number().int().nullable(),
  /** With the pid, the identity of the process: its start time and the boot it belongs to. */
  processStart: z.string().nullable(),
  /** Its processes are to be halted as long as this is set. */
  pausedAt: timeSchema.nullable(),
  /** When a person last asked it to leave off. */
  interruptedAt: timeSchema.nullable(),
  endedAt: timeSchema.nullable(),
  exitCode: z.number().int().nullable(),
  endReason: z.string().nullable(),
  usage: usageSchema,
  /** What the provider last reported for the whole conversation: what a later session's report is compared with. */
  reported: usageSchema.nullable(),
  result: providerResultSchema.nullable(),
  /** A usage limit that the provider reported: 0 when it named no end. */
  limitUntil: timeSchema.nullable(),
});
export type Session = z.infer<typeof sessionSchema>;

/** Whose budget a run passed: its agent's, its own, or its project's in the last day. */
export const budgetOwners = ['agent', 'task', 'project'] as const;

/** Why a run failed, where that is not the agent's doing: a passed budget, or the provider's usage limit. */
const runCauseSchema = z.discriminatedUnion('reason', [
  z.object({ reason: z.literal('budget'), of: z.enum(budgetOwners), detail: z.string() }),
  z.object({ reason: z.literal('limit') }),
]);
export type RunCause = z.infer<typeof runCauseSchema>;

/** The chat thread of a run that names none. */
export const usualThread = 'default';

/** One unit of work. `outcome` is null while it runs. */
export const runSchema = z.object({
  id: idSchema,
  /** The root of its repository when it began; null for the run of an agent that belongs to no project. */
  repoPath: z.string().nullable(),
  /** The chat thread that it belongs to. Not the id of a session, of which a run may have several. */
  sessionId: nameSchema,
  /** Null for the run of an agent that belongs to no project. */
  projectId: idSchema.nullable(),
  agentId: idSchema,
  agentKind: z.enum(agentKinds),
  parentRunId: idSchema.nullable(),
  task: z.string(),
  /** The agent's definition as it was when the run began; later edits of the file change later runs only. */
  definition: definitionSchema.nullable(),
  startedAt: timeSchema,
  endedAt: timeSchema.nullable(),
  outcome: z.enum(runOutcomes).nullable(),
  detail: z.string().nullable(),
  /** Questions that the agent left for a person, when it ended with questions. */
  questions: z.array(z.object({ id: z.string(), question: z.string() })).nullable(),
  /** What it came to before it was asked for one thing more: to commit what it had left. */
  resultBefore: z.string().nullable(),
  /** It is not gone on with before this time, for this reason. */
  waitUntil: timeSchema.nullable(),
  waitFor: z.enum(['account', 'retry']).nullable(),
  /** Set for a failed run only, where the cause is known to be none of the agent's. */
  cause: runCauseSchema.nullable(),
});
export type Run = z.infer<typeof runSchema>;

export const messageSchema = z.object({
  id: z.number().int(),
  agentId: idSchema,
  /** The run and the session that it belongs to, where there is one. */
  runId: idSchema.nullable(),
  sessionId: idSchema.nullable(),
  kind: z.enum(messageKinds),
  content: z.string(),
  /** What its kind adds: a tool's name and call id, a fork's other side, a mark's label. */
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

/** How an account's credentials came to be, which decides how they reach the CLI. */
const accountKinds = ['api-key', 'token', 'directory', 'shell'] as const;

/** Credentials for one provider. Secrets are not here but in the account's own directory. */
export const accountSchema = z.object({
  id: idSchema,
  provider: nameSchema,
  name: nameSchema,
  kind: z.enum(accountKinds),
  email: z.string().nullable(),
  /** Which server it is for; null is the provider's own. */
  baseUrl: z.string().nullable(),
  createdAt: timeSchema,
  lastUsedAt: timeSchema.nullable(),
  /** A usage limit holds until then. */
  exhaustedUntil: timeSchema.nullable(),
  /** Limits in a row that named no end: each makes the next wait longer. */
  strikes: z.number().int().nonnegative(),
  /** Why it cannot be used, such as a login that has expired. */
  invalidReason: z.string().nullable(),
  removedAt: timeSchema.nullable(),
});
export type Account = z.infer<typeof accountSchema>;

export const taskStates = ['pending', 'in_progress', 'in_review', 'completed', 'blocked'] as const;

/** A piece of planned work. Its state is derived from the runs of the agents that worked on it. */
export const taskSchema = z.object({
  id: idSchema,
  projectId: idSchema,
  /** Tasks of one phase are siblings. */
  phase: z.string(),
  name: z.string(),
  description: z.string(),
  /** Tasks that have to be completed first. */
  dependsOn: z.array(idSchema),
  /** The agent that asked for it; null for a person. */
  createdBy: idSchema.nullable(),
  createdAt: timeSchema,
  /** What came of it: handed to those who depend on it. */
  summary: z.string().nullable(),
  /** When an agent finished the work; it is completed once its change has landed. */
  finishedAt: timeSchema.nullable(),
  completedAt: timeSchema.nullable(),
  /** Why nobody is to take it up. */
  blockedReason: z.string().nullable(),
  /** How often an agent has crashed on it. */
  crashes: z.number().int().nonnegative(),
  /** The agent that has taken it up: as long as it is at it, and until its work has landed. */
  agentId: idSchema.nullable(),
});
export type Task = z.infer<typeof taskSchema>;
