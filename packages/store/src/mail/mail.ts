import { limits } from '@pawl/schema/limit';
import { isFromPawl, mailSender, pawlsKinds } from '@pawl/schema/mail';
import type { Mail } from '@pawl/schema/mail';
import { sql } from 'kysely';
import type { SelectQueryBuilder } from 'kysely';
import { hotQuery } from '../engine/hot-query.ts';
import { integer, nullableInteger, toColumns } from '../row.ts';
import { storeLimits } from '../store-limit.ts';
import type { Database, Row, Tables } from '../tables.ts';
import type { WriteTransaction } from '../write-transaction.ts';

export async function insertMail(tx: WriteTransaction, mail: Mail): Promise<void> {
  await tx.db.insertInto('mail').values(toColumns(mail)).execute();
}

const selectMail = hotQuery<[id: string], Row<'mail'>>(['1'], (db, [id]) =>
  db.selectFrom('mail').selectAll().where('id', '=', id),
);

export async function mailById(db: Database, id: string): Promise<Mail | null> {
  const [row] = (await selectMail(db, [id])).rows;
  return row ? mailOf(row) : null;
}

/**
 * Whether a mail stores its body in this file. The file name usually starts with the mail's id, which is checked first.
 */
export async function hasBodyFile(db: Database, file: string): Promise<boolean> {
  const named = await mailById(db, file.slice(0, file.indexOf('.')));
  if (named?.bodyFile === file) return true;
  const row = await db.selectFrom('mail').select('id').where('body_file', '=', file).limit(1).executeTakeFirst();
  return row !== undefined;
}

/** The mails with these ids, in the order sent. */
export async function mailsByIds(db: Database, ids: readonly string[]): Promise<Mail[]> {
  // Postgres has no empty list.
  if (ids.length === 0) return [];
  const rows = await db.selectFrom('mail').selectAll().where('id', 'in', ids).orderBy('ordinal').execute();
  return rows.map(mailOf);
}

/** Mail by id or id prefix. The caller refuses more than one match. */
export async function findMail(db: Database, reference: string): Promise<Mail[]> {
  const exact = await mailById(db, reference);
  if (exact !== null) return [exact];
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{3,21}$/.test(reference)) return [];
  const rows = await db
    .selectFrom('mail')
    .selectAll()
    .where('id', '>=', reference)
    .where('id', '<', `${reference}~`)
    .orderBy('id')
    .limit(storeLimits.matches)
    .execute();
  return rows.map(mailOf);
}

/** Unclaimed mail waiting for an agent. */
function waitingFor(db: Database, toId: string) {
  return db
    .selectFrom('mail')
    .selectAll()
    .where('delivered_at', 'is', null)
    .where('dead_at', 'is', null)
    .where('to_id', '=', toId)
    .where('claim_session_id', 'is', null);
}

const selectWaiting = hotQuery<[toId: string, limit: number], Row<'mail'>>(['1', 2], (db, [toId, limit]) =>
  waitingFor(db, toId).orderBy('ordinal').limit(limit),
);

/** Unclaimed mail waiting for an agent, in the order sent. */
export async function waitingMail(db: Database, toId: string, limit: number): Promise<Mail[]> {
  return (await selectWaiting(db, [toId, limit])).rows.map(mailOf);
}

/** Waiting mail that starts a turn regardless of the definition: questions, nudges, alerts, a person's messages. */
export async function wakingMail(
  db: Database,
  toId: string,
  { personId, limit }: { personId: string; limit: number },
): Promise<Mail[]> {
  const rows = await waitingFor(db, toId)
    .where((where) =>
      where.or([
        where('kind', 'in', ['question', 'nudge', 'alert']),
        where.and([where('kind', '=', 'message'), where('from_id', '=', personId)]),
      ]),
    )
    .orderBy('ordinal')
    .limit(limit)
    .execute();
  return rows.map(mailOf);
}

/** Waiting mail from the senders of some other mail, in the order sent. */
export async function waitingFromSendersOf(
  db: Database,
  toId: string,
  { mails, limit }: { mails: readonly Pick<Mail, 'fromId' | 'kind'>[]; limit: number },
): Promise<Mail[]> {
  const senders = new Map(mails.map((mail) => [mailSender(mail), mail]));
  // Postgres has no empty list.
  if (senders.size === 0) return [];
  const rows = await waitingFor(db, toId)
    .where((where) =>
      where.or(
        [...senders.values()].map((mail) =>
          where.and([
            where('from_id', '=', mail.fromId),
            where('kind', isFromPawl(mail) ? 'in' : 'not in', [...pawlsKinds]),
          ]),
        ),
      ),
    )
    .orderBy('ordinal')
    .limit(limit)
    .execute();
  return rows.map(mailOf);
}

/** The number of mails waiting for an agent, including claimed ones. */
export async function countPending(db: Database, toId: string): Promise<number> {
  return count(db, toId, (mails) => mails.where('delivered_at', 'is', null).where('dead_at', 'is', null));
}

/** All agents with waiting mail. */
export async function recipientsWaiting(db: Database): Promise<string[]> {
  const rows = await db
    .selectFrom('mail')
    .select('to_id')
    .distinct()
    .where('delivered_at', 'is', null)
    .where('dead_at', 'is', null)
    .execute();
  return rows.map((row) => row.to_id);
}

const selectHeld = hotQuery<[sessionId: string], Row<'mail'>>(['1'], (db, [sessionId]) =>
  db.selectFrom('mail').selectAll().where('claim_session_id', '=', sessionId).orderBy('ordinal'),
);

/** The mail claimed by a session, in the order sent. */
export async function mailOfSession(db: Database, sessionId: string): Promise<Mail[]> {
  return (await selectHeld(db, [sessionId])).rows.map(mailOf);
}

export type MailFilter = {
  toId?: string;
  fromId?: string;
  /** Only what its recipient has not read and may still read; with false only the rest. */
  unread?: boolean;
  /** Mail that was sent before this one. */
  before?: string;
  limit: number;
};

/** A page of mail, newest first. */
export async function listMail(db: Database, filter: MailFilter): Promise<Mail[]> {
  let query = db
    .selectFrom('mail')
    .selectAll()
    .orderBy('ordinal', 'desc')
    .limit(Math.min(filter.limit, limits.pageRows));
  if (filter.toId !== undefined) query = query.where('to_id', '=', filter.toId);
  if (filter.fromId !== undefined) query = query.where('from_id', '=', filter.fromId);
  if (filter.unread === true) query = query.where('read_at', 'is', null).where('dead_at', 'is', null);
  if (filter.unread === false)
    query = query.where((or) => or.or([or('read_at', 'is not', null), or('dead_at', 'is not', null)]));
  if (filter.before !== undefined) {
    const before = db.selectFrom('mail').select('ordinal').where('id', '=', filter.before);
    query = query.where('ordinal', '<', before);
  }
  return (await query.execute()).map(mailOf);
}

/** Delivered mail that an agent has not read, in the order sent. */
export async function unreadDelivered(db: Database, toId: string, limit: number): Promise<Mail[]> {
  const rows = await db
    .selectFrom('mail')
    .selectAll()
    .where('to_id', '=', toId)
    .where('read_at', 'is', null)
    .where('dead_at', 'is', null)
    .where('delivered_at', 'is not', null)
    .where('channel', '!=', 'pull')
    .orderBy('ordinal')
    .limit(limit)
    .execute();
  return rows.map(mailOf);
}

/** The oldest unread mail of an agent, from anybody or from one sender; null if there is none. */
export async function oldestUnread(db: Database, toId: string, fromId?: string): Promise<Mail | null> {
  let query = db
    .selectFrom('mail')
    .selectAll()
    .where('to_id', '=', toId)
    .where('read_at', 'is', null)
    .where('dead_at', 'is', null);
  // An expression, so that the planner uses the index on unread mail instead of the one on senders.
  if (fromId !== undefined) query = query.where(sql`coalesce(from_id, '')`, '=', fromId);
  const row = await query.orderBy('ordinal').limit(1).executeTakeFirst();
  return row ? mailOf(row) : null;
}

/** The number of fetched mails not known to be read. */
export async function countFetched(db: Database, toId: string): Promise<number> {
  return count(db, toId, (mails) =>
    mails.where('read_at', 'is', null).where('dead_at', 'is', null).where('channel', '=', 'pull'),
  );
}

/** The agents that an agent has told of its completion since a time. */
export async function toldOfCompletion(db: Database, fromId: string, since: number): Promise<string[]> {
  const rows = await db
    .selectFrom('mail')
    .select('to_id')
    .distinct()
    .where('from_id', '=', fromId)
    .where('kind', '=', 'completion')
    .where('created_at', '>=', since)
    .execute();
  return rows.map((row) => row.to_id);
}

export async function countUnread(db: Database, toId: string): Promise<number> {
  return count(db, toId, (mails) => mails.where('read_at', 'is', null).where('dead_at', 'is', null));
}

type Mails = SelectQueryBuilder<Tables, 'mail', object>;

/** Counts the mails to an agent that match a condition. */
async function count(db: Database, toId: string, narrow: (mails: Mails) => Mails): Promise<number> {
  const { count: found } = await narrow(db.selectFrom('mail').where('to_id', '=', toId))
    .select(({ fn }) => fn.countAll<number | string | bigint>().as('count'))
    .executeTakeFirstOrThrow();
  return integer(found);
}

export function mailOf(row: Row<'mail'>): Mail {
  return {
    id: row.id,
    projectId: row.project_id,
    fromId: row.from_id,
    toId: row.to_id,
    kind: row.kind,
    body: row.body,
    bodyFile: row.body_file,
    bodyBytes: integer(row.body_bytes),
    questionId: row.question_id,
    createdAt: integer(row.created_at),
    deliveredAt: nullableInteger(row.delivered_at),
    readAt: nullableInteger(row.read_at),
    ackedAt: nullableInteger(row.acked_at),
    channel: row.channel,
    deadAt: nullableInteger(row.dead_at),
    deadReason: row.dead_reason,
    claimSessionId: row.claim_session_id,
    attempts: integer(row.attempts),
  };
}
