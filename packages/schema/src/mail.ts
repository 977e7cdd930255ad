import * as z from 'zod';
import { idSchema } from './id.ts';
import { timeSchema } from './record.ts';

/**
 * What a mail is for. Only `question` has a conversation that somebody waits for; `nudge`, `system` and `alert` come from Pawl
 * itself. An alert is about something that its recipient has to do now, so it begins a turn; what is `system` waits for one.
 */
export const mailKinds = ['message', 'question', 'answer', 'nudge', 'system', 'alert', 'completion'] as const;
export type MailKind = (typeof mailKinds)[number];

/** How a mail reached its recipient: into the running turn, with the prompt of a turn, or because it was asked for. */
export const mailChannels = ['live', 'turn', 'pull'] as const;
export type MailChannel = (typeof mailChannels)[number];

/** The states of a mail, in the only order in which they follow each other; some may be left out. */
export const mailStatuses = ['pending', 'delivered', 'read', 'acked'] as const;
export type MailStatus = (typeof mailStatuses)[number];

/**
 * What one agent sends another. Its status is derived from the times (`statusOfMail` in core).
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
  /** All of it, or, when it is long, its beginning; then `bodyFile` is where the whole is. */
  body: z.string(),
  bodyFile: z.string().nullable(),
  bodyBytes: z.number().int().positive(),
  /** The question that it asks or answers. */
  questionId: idSchema.nullable(),
  createdAt: timeSchema,
  deliveredAt: timeSchema.nullable(),
  readAt: timeSchema.nullable(),
  ackedAt: timeSchema.nullable(),
  /** How it arrived, or how it is being handed over. */
  channel: z.enum(mailChannels).nullable(),
  /** Why it never arrives. */
  deadAt: timeSchema.nullable(),
  deadReason: z.string().nullable(),
  /** The session that it is being handed to, as long as nothing shows that it has arrived. */
  claimSessionId: idSchema.nullable(),
  /** How often a session ended badly with it in its hands. */
  attempts: z.number().int().nonnegative(),
});
export type Mail = z.infer<typeof mailSchema>;

/** The kinds of mail that Pawl itself sends: in agent 0's name, as the person's mail, but shown as Pawl's. */
export const pawlsKinds = ['nudge', 'system', 'alert'] as const satisfies readonly MailKind[];

export function isFromPawl({ kind }: Pick<Mail, 'kind'>): boolean {
  return (pawlsKinds as readonly MailKind[]).includes(kind);
}

/** A name for the sender of a mail. All mail with one name reaches its recipient in the order in which it was sent. */
export function mailSender(mail: Pick<Mail, 'fromId' | 'kind'>): string {
  return isFromPawl(mail) ? `pawl as ${mail.fromId}` : mail.fromId;
}

export const questionEnds = ['answered', 'not-now', 'expired', 'cancelled'] as const;
export type QuestionEnd = (typeof questionEnds)[number];

/** Mail that somebody waits for an answer to. Its id is what the command line calls a conversation id. */
export const questionSchema = z.object({
  id: idSchema,
  projectId: idSchema.nullable(),
  fromId: idSchema,
  /** Agent 0 stands for the person. */
  toId: idSchema,
  /** A permission is asked for by a program on its agent's behalf, which waits for a yes or a no. */
  kind: z.enum(['question', 'permission']),
  question: z.string(),
  mailId: idSchema,
  /** By what the recipient was found, where it was not named itself. */
  taskId: idSchema.nullable(),
  phase: z.string().nullable(),
  askedAt: timeSchema,
  deadlineAt: timeSchema.nullable(),
  /** A listener has been given it, and is not given it again before this time. */
  listenedUntil: timeSchema.nullable(),
  endedAt: timeSchema.nullable(),
  end: z.enum(questionEnds).nullable(),
  answer: z.string().nullable(),
  /** Since when the one who asked knows how it ended; also when there is nobody left to tell. */
  toldAt: timeSchema.nullable(),
  /** The mail that told it, where there was one. */
  answerMailId: idSchema.nullable(),
});
export type Question = z.infer<typeof questionSchema>;

/** What is remembered of nudging one agent. */
export const nudgeStateSchema = z.object({
  agentId: idSchema,
  nudgedAt: timeSchema.nullable(),
  /** The last nudge, which may not have arrived yet. */
  mailId: idSchema.nullable(),
  /** How long to wait before the next one as long as nothing changes. */
  backoffMs: z.number().int().nonnegative(),
  /** The log up to here had been seen when it was last nudged. */
  seenSeq: z.number().int().nonnegative(),
  /** Why it was not nudged when that was last looked at. */
  skipReason: z.string().nullable(),
});
export type NudgeState = z.infer<typeof nudgeStateSchema>;
