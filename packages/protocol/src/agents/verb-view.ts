import { accessLevels } from '@pawl/schema/access-level';
import { idSchema, nameSchema } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import { budgetSchema, workModes } from '@pawl/schema/record';
import * as z from 'zod';
import { agentAnswerSchema, agentViewSchema } from './view.ts';
import { path, searchPath, word } from '../fields.ts';
import { whenDoneSchema } from '../projects/view.ts';

export const workSchema = z.object({
  /** Any path inside the project; absent with `projects` or `noProject`. */
  path: path.optional(),
  /** The agent's projects by name or absolute path, the first one first; it gets a worktree in each. */
  projects: z.array(path).min(1).max(limits.projectsOfAgent).optional(),
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
  options: z.record(z.string().max(64), path).optional(),
  /** The mode; by default the definition's own, or `execute`. */
  mode: z.enum(workModes).optional(),
  /** The account; by default the provider's default one. */
  account: nameSchema.optional(),
  /** Limits that stop the agent's running turn. */
  budget: budgetSchema.partial().optional(),
  /** Its access to the machine; without it, as the definition, the project or the home says. */
  access: z.enum(accessLevels).optional(),
  /** Its sessions get the key of their account itself. Only a person may ask for that. */
  noProxy: z.boolean().optional(),
  /** The planned task, by id or name, or `@next`: the first one that is ready. Its text replaces the task. */
  planned: word(200).optional(),
  /** The plan that a planning mode works for, by id or name, and the phase of which it plans the tasks. */
  plan: word(1_000).optional(),
  phase: word(1_000).optional(),
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
  /** Never wider than the parent's, which is the default. */
  access: z.enum(accessLevels).optional(),
  /** As for new work; without it as the parent. */
  noProxy: z.boolean().optional(),
  /** Carries the parent's staged, unstaged and untracked files into the child's worktree. */
  withFiles: z.boolean().optional(),
  /** False answers `busy` at once if a fork would have to wait for a tool or an unfinished answer. */
  wait: z.boolean().optional(),
  /** Whether to switch the person to the child; by default the home's setting. */
  switch: z.boolean().optional(),
  /**
   * The project of the child, by name or absolute path, where its parent has none; without it the child has none
   * either.
   */
  project: path.optional(),
  /** Only for a fork of agent 0, which has neither: a path in the repository, and the provider. */
  path: path.optional(),
  provider: z.string().min(1).max(64).optional(),
  options: z.record(z.string().max(64), path).optional(),
  searchPath,
});
export type ForkBody = z.infer<typeof forkSchema>;

/** Resumes an idle agent, with or without a prompt. */
export const resumeSchema = z.object({
  prompt: z.string().max(limits.bodyBytes).optional(),
  /** Limits that replace its own, counted from its first session; null removes one. */
  budget: budgetSchema.partial().optional(),
  /** Continues with this model, provider and account, which receive the conversation. */
  model: z.string().min(1).max(200).optional(),
  provider: z.string().min(1).max(64).optional(),
  account: z.string().min(1).max(64).optional(),
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
  /** No person is available to answer: the agent decides. */
  notNow: z.boolean().optional(),
  /** For a permission: yes or no. */
  allow: z.boolean().optional(),
  /** With `allow`: makes a rule that allows the same again, for this session, for this agent or in the project. */
  again: z.enum(['session', 'agent', 'project']).optional(),
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

const confinementSchema = z.discriminatedUnion('sandbox', [
  z.object({ sandbox: z.literal('on') }),
  z.object({ sandbox: z.literal('off') }),
  z.object({ sandbox: z.literal('missing'), reason: z.string(), hint: z.string() }),
]);
export type Confinement = z.infer<typeof confinementSchema>;

export const workAnswerSchema = agentAnswerSchema.extend({
  /**
   * The automatic treatment of its branch when it is done, by the current configuration; null if there is none.
   */
  whenDone: whenDoneSchema.nullable(),
  /** Says that it starts without commits that only the local target branch has; null if it does not. */
  baseNote: z.string().nullable(),
  /** Whether it runs in a sandbox: yes, no by choice, or no since there is none. */
  confinement: confinementSchema,
});
export type WorkAnswer = z.infer<typeof workAnswerSchema>;

export const completeSchema = z.object({
  /** The result. */
  summary: z.string().max(limits.bodyBytes).optional(),
  /** Why it failed; absent if it did not. */
  failure: z.string().max(limits.bodyBytes).optional(),
});
export type CompleteBody = z.infer<typeof completeSchema>;

export const completeAnswerSchema = agentAnswerSchema.extend({
  /** Recipients of a mail about it by this request. */
  notified: z.array(z.object({ id: idSchema, alias: nameSchema })),
  /** False if it had completed before; then nothing changed. */
  isNew: z.boolean(),
});
export type CompleteAnswer = z.infer<typeof completeAnswerSchema>;
