import { idSchema } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import { mailSchema, mailStatuses } from '@pawl/schema/mail';
import * as z from 'zod';
import { agentNamed, path } from '../fields.ts';

const agentWord = z.string().min(1).max(128);

/** Longer than the limit, so that the refusal can state it. */
const body = z.string().max(limits.bodyBytes);

/** A mail to one agent, or to everybody in a project: the caller's own, or for a person that of the path. */
export const sendMailSchema = z.union([
  z.strictObject({ to: agentWord, body }),
  z.strictObject({ all: z.literal(true), path: path.optional(), body }),
]);
export type SendMailBody = z.infer<typeof sendMailSchema>;

/** A mail with its derived status, and the names of both sides. */
export const mailViewSchema = mailSchema
  .pick({
    id: true,
    kind: true,
    body: true,
    bodyBytes: true,
    questionId: true,
    createdAt: true,
    deliveredAt: true,
    readAt: true,
    ackedAt: true,
    channel: true,
  })
  .extend({
    from: agentNamed,
    to: agentNamed,
    status: z.enum(mailStatuses),
    /** `body` is only its beginning; `POST /api/mail/{mail}/read` has all of it. */
    cut: z.boolean(),
    /** Why it never arrives. */
    dead: z.object({ at: z.number().int(), reason: z.string() }).nullable(),
    /** Describes a mail that has not arrived; empty otherwise. */
    detail: z.string(),
  });
export type MailView = z.infer<typeof mailViewSchema>;

export const mailsAnswerSchema = z.object({ mails: z.array(mailViewSchema) });
export type MailsAnswer = z.infer<typeof mailsAnswerSchema>;

export const mailAnswerSchema = z.object({ mail: mailViewSchema });
export type MailAnswer = z.infer<typeof mailAnswerSchema>;

/** The cursor includes which half of a mailbox a page belongs to: mail may be read while somebody pages. */
const cursor = z.string().regex(/^(?:unread|rest):[A-Za-z0-9][A-Za-z0-9_-]{21}$/, 'is not what `next` said');

/** Whose mailbox, and a filter. Default: the caller's own, which for a person is agent 0's. */
export const mailQuerySchema = z.object({
  agent: agentWord.optional(),
  from: agentWord.optional(),
  unread: z.enum(['true', 'false']).optional(),
  limit: z.coerce.number().int().min(1).max(limits.mailPageRows).optional(),
  before: cursor.optional(),
});

export const fetchMailSchema = z.strictObject({
  from: agentWord.optional(),
  unread: z.boolean().optional(),
  limit: z.number().int().min(1).max(limits.mailPageRows).optional(),
  before: cursor.optional(),
});
export type FetchMailBody = z.infer<typeof fetchMailSchema>;

/** Unread mail first, then the rest; each newest first. */
export const mailListSchema = z.object({
  mailbox: agentNamed,
  mails: z.array(mailViewSchema),
  unread: z.number().int(),
  /** The value of `before` for the next page. */
  next: z.string().nullable(),
});
export type MailList = z.infer<typeof mailListSchema>;

export const waitMailSchema = z.strictObject({
  /** 0 checks once. Longer waits are made of several of these. */
  timeoutMs: z.number().int().nonnegative().max(limits.mailWaitMs),
  /** The agents to wait for; by default the next mail of anybody. */
  agents: z.array(agentWord).min(1).max(limits.mailWaitAgents).optional(),
});
export type WaitMailBody = z.infer<typeof waitMailSchema>;

const waitedStates = ['received', 'running', 'idle', 'dead'] as const;

/** The result of a wait: the next mail, or for each awaited agent a mail or its state. */
export const waitedSchema = z.object({
  /** Nothing is left to wait for. */
  done: z.boolean(),
  mails: z.array(mailViewSchema),
  /** Mail that also came, but is already in the caller's running turn, by id. Older daemons omit it. */
  shown: z.array(idSchema).optional(),
  agents: z.array(agentNamed.extend({ state: z.enum(waitedStates), mailId: idSchema.nullable() })),
});
export type Waited = z.infer<typeof waitedSchema>;
