import { approvalSchema } from '@pawl/schema/approval/approval';
import { approvalLimits } from '@pawl/schema/approval/approval-limit';
import { idSchema } from '@pawl/schema/id';
import { inboxKinds } from '@pawl/schema/inbox';
import { limits } from '@pawl/schema/limit';
import { questionEnds } from '@pawl/schema/mail';
import { timeSchema } from '@pawl/schema/record';
import * as z from 'zod';
import { changeViewSchema } from '../changes/view.ts';
import { agentNamed } from '../fields.ts';

const text = z.string().min(1).max(limits.bodyBytes);

/** The recipient, named in one way: an agent, whoever works on a task or in a phase, or the person. */
export const askSchema = z
  .object({
    question: text,
    /** The asker; by default the caller. */
    from: z.string().min(1).max(128).optional(),
    agent: z.string().min(1).max(128).optional(),
    task: z.string().min(1).max(1_000).optional(),
    phase: z.string().min(1).max(1_000).optional(),
    person: z.literal(true).optional(),
    /** How long to wait for an answer. */
    timeoutMs: z.number().int().min(1).max(limits.longestQuestionMs).optional(),
  })
  .refine(
    ({ agent, task, phase, person }) => [agent, task, phase, person].filter((each) => each !== undefined).length === 1,
    'name one who is asked: agent, task, phase or person',
  );
export type AskBody = z.infer<typeof askSchema>;

export const answerSchema = z.object({ answer: text });

/** A question, for its asker and its recipient. */
export const questionViewSchema = z.object({
  conversationId: idSchema,
  kind: z.enum(['question', 'permission']),
  from: agentNamed,
  to: agentNamed,
  question: z.string(),
  taskId: idSchema.nullable(),
  phaseId: z.string().nullable(),
  askedAt: timeSchema,
  deadlineAt: timeSchema.nullable(),
  endedAt: timeSchema.nullable(),
  end: z.enum(questionEnds).nullable(),
  /** Only for an answered one. */
  answer: z.string().nullable(),
  /** Why there is no answer, if it ended without one. */
  reason: z.string().nullable(),
});
export type QuestionView = z.infer<typeof questionViewSchema>;

export const questionAnswerSchema = z.object({ question: questionViewSchema });
export type QuestionAnswer = z.infer<typeof questionAnswerSchema>;

export const questionListSchema = z.object({ questions: z.array(questionViewSchema) });
export type QuestionList = z.infer<typeof questionListSchema>;

export const answeredSchema = z.object({ conversationId: idSchema, status: z.literal('answered') });
export type Answered = z.infer<typeof answeredSchema>;

/** One item of the inbox. */
export const inboxItemSchema = z.object({
  /** The argument of `pawl reply`: the question's id, or, for a run's questions, the agent's. */
  id: idSchema,
  kind: z.enum(['questions', 'question', 'permission']),
  agent: agentNamed,
  project: agentNamed.nullable(),
  askedAt: timeSchema,
  /** When it is settled without the person, as of now. */
  deadlineAt: timeSchema.nullable(),
  questions: z.array(
    z.object({
      id: z.string(),
      question: z.string(),
      /** How much is left out here; the question itself, by the item's id, has all of it. */
      leftOutBytes: z.number().int().nonnegative(),
    }),
  ),
  /** The CLI's own subagent that asks for a permission; null for the agent itself. */
  owner: z.string().nullable(),
  /**
   * The answers that a permission takes, as options of `pawl reply`, each with its consequence; empty for a question.
   */
  choices: z.array(z.object({ option: z.string(), does: z.string() })),
});
export type InboxItem = z.infer<typeof inboxItemSchema>;

/** A target branch that does not pass its checks. */
export const inboxEmergencySchema = z.object({
  project: agentNamed,
  branch: z.string(),
  commit: z.string(),
  checkId: idSchema,
  since: timeSchema,
  /** The agent that repairs it, or null. */
  fixer: agentNamed.nullable(),
  /** Why no agent could be started for that, or null. */
  trouble: z.string().nullable(),
  /** The failure, as a sentence. */
  detail: z.string(),
});
export type InboxEmergency = z.infer<typeof inboxEmergencySchema>;

/** One item that waits for the person, of any kind, with the commands to continue. */
export const inboxEntrySchema = z.object({
  kind: z.enum(inboxKinds),
  /** The id of its question, agent, change or project. */
  id: idSchema,
  agent: agentNamed.nullable(),
  project: agentNamed.nullable(),
  changes: z.array(idSchema),
  since: timeSchema,
  /** The subject and the event, one line each. */
  text: z.string(),
  detail: z.string(),
  next: z.array(z.string()),
});
export type InboxEntry = z.infer<typeof inboxEntrySchema>;

export const inboxSchema = z.object({
  /** Everything that waits, oldest first, a red target branch before all else. The lists below have the details. */
  entries: z.array(inboxEntrySchema),
  items: z.array(inboxItemSchema),
  /** Changes that need a person to continue. */
  changes: z.array(changeViewSchema),
  emergencies: z.array(inboxEmergencySchema),
});
export type Inbox = z.infer<typeof inboxSchema>;

/** A request of an agent's CLI for approval, in full. */
const approvalViewSchema = approvalSchema
  .omit({ projectId: true, agentId: true, sessionId: true, nativeId: true, referredAt: true })
  .extend({ agent: agentNamed });
export const approvalAnswerSchema = z.object({ approval: approvalViewSchema });
export type ApprovalAnswer = z.infer<typeof approvalAnswerSchema>;

/** Requests that the caller may decide: of all agents for a person, of those below it for an agent. */
export const approvalListSchema = z.object({
  approvals: z.array(
    approvalViewSchema
      .pick({ id: true, agent: true, kind: true, tool: true, cwd: true, owner: true, askedAt: true, deadlineAt: true })
      .extend({
        text: z.string(),
        /** How much is left out here; the request itself has all of it. */
        leftOutBytes: z.number().int().nonnegative(),
      }),
  ),
});
export type ApprovalList = z.infer<typeof approvalListSchema>;

/** An answer to a request, for this one call; a refused host is allowed until the session ends. */
export const decisionSchema = z.object({
  allow: z.boolean(),
  /** Why not; the model of the agent that asked learns it. */
  reason: z.string().min(1).max(approvalLimits.reasonCharacters).optional(),
});
export type DecisionBody = z.infer<typeof decisionSchema>;

/** A program's request on its agent's behalf, like Claude's `--permission-prompt-tool`. */
export const permissionSchema = z.object({
  tool: z.string().min(1).max(200),
  input: z.record(z.string(), z.unknown()).default({}),
});

export type PermissionBody = z.input<typeof permissionSchema>;

export const permissionAnswerSchema = z.object({
  behavior: z.enum(['allow', 'deny']),
  message: z.string(),
  conversationId: idSchema.nullable(),
});
export type PermissionAnswer = z.infer<typeof permissionAnswerSchema>;
