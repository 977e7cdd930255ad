import * as z from 'zod';
import { idSchema } from './id.ts';
import { timeSchema } from './record.ts';

/**
 * The purpose of a mail. Only a `question` has a waiting sender; `nudge`, `system` and `alert` come from
 * Pawl itself. An alert requires action now, so it starts a turn; `system` mail waits for one.
 */
export const mailKinds = ['message', 'question', 'answer', 'nudge', 'system', 'alert', 'completion'] as const;
export type MailKind = (typeof mailKinds)[number];

/** How a mail reached its recipient: into the running turn, with a turn's prompt, or fetched. */
export const mailChannels = ['live', 'turn', 'pull'] as const;
export type MailChannel = (typeof mailChannels)[number];

/** The states of a mail in order; some may be skipped. */
export const mailStatuses = ['pending', 'delivered', 'read', 'acked'] as const;
export type MailStatus = (typeof mailStatuses)[number];

/**
 * A message from one agent to another. Its status is derived from the times (`statusOfMail` in core).
 *
 *   pending ──▶ delivered ──▶ read ──▶ acked
 *     │ ▲
 *     │ └ claimed for a session, which ended without showing it: free again
 *     └──▶ dead-lettered (its recipient is gone, or it could not be handed over)
 */
export const mailSchema = z.object({
  id: idSchema,
  projectId: idSchema.nullable(),
  fromId: idSchema,
  toId: idSchema,
  kind: z.enum(mailKinds),
  /** All of it, or the beginning of a long one; then `bodyFile` has the whole. */
  body: z.string(),
  bodyFile: z.string().nullable(),
  bodyBytes: z.number().int().positive(),
  /** The question that it asks or answers. */
  questionId: idSchema.nullable(),
  createdAt: timeSchema,
  deliveredAt: timeSchema.nullable(),
  readAt: timeSchema.nullable(),
  ackedAt: timeSchema.nullable(),
  /** How it arrived, or is being delivered. */
  channel: z.enum(mailChannels).nullable(),
  /** Why it never arrives. */
  deadAt: timeSchema.nullable(),
  deadReason: z.string().nullable(),
  /** The session that claimed it, until its arrival is confirmed. */
  claimSessionId: idSchema.nullable(),
  /** How often a session crashed with it. */
  attempts: z.number().int().nonnegative(),
});
export type Mail = z.infer<typeof mailSchema>;

/** Mail kinds that Pawl itself sends: by agent 0, like the person's mail, but shown as Pawl's. */
export const pawlsKinds = ['nudge', 'system', 'alert'] as const satisfies readonly MailKind[];

export function isFromPawl({ kind }: Pick<Mail, 'kind'>): boolean {
  return (pawlsKinds as readonly MailKind[]).includes(kind);
}

/** An ordering key for the sender of a mail: mail with one key arrives in the order sent. */
export function mailSender(mail: Pick<Mail, 'fromId' | 'kind'>): string {
  return isFromPawl(mail) ? `pawl as ${mail.fromId}` : mail.fromId;
}

export const questionEnds = ['answered', 'not-now', 'expired', 'cancelled'] as const;
export type QuestionEnd = (typeof questionEnds)[number];

/** Mail that expects an answer. Its id is the command line's conversation id. */
export const questionSchema = z.object({
  id: idSchema,
  projectId: idSchema.nullable(),
  fromId: idSchema,
  /** Agent 0 stands for the person. */
  toId: idSchema,
  /** A permission: a program asks on its agent's behalf, and waits for yes or no. */
  kind: z.enum(['question', 'permission']),
  question: z.string(),
  mailId: idSchema,
  /** How the recipient was found, if not named directly. */
  taskId: idSchema.nullable(),
  phase: z.string().nullable(),
  askedAt: timeSchema,
  deadlineAt: timeSchema.nullable(),
  /** A listener has it until this time. */
  listenedUntil: timeSchema.nullable(),
  endedAt: timeSchema.nullable(),
  end: z.enum(questionEnds).nullable(),
  answer: z.string().nullable(),
  /** When the asker learned the end; also set if the asker is gone. */
  toldAt: timeSchema.nullable(),
  /** The mail that told it, if any. */
  answerMailId: idSchema.nullable(),
});
export type Question = z.infer<typeof questionSchema>;

/** The nudge state of one agent. */
export const nudgeStateSchema = z.object({
  agentId: idSchema,
  nudgedAt: timeSchema.nullable(),
  /** The last nudge, which may not have arrived yet. */
  mailId: idSchema.nullable(),
  /** How long to wait for the next one if nothing changes. */
  backoffMs: z.number().int().nonnegative(),
  /** The log position at the last nudge. */
  seenSeq: z.number().int().nonnegative(),
  /** Why it was not nudged last time. */
  skipReason: z.string().nullable(),
});
export type NudgeState = z.infer<typeof nudgeStateSchema>;
