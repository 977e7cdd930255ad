import { conversationKinds, messageSchema } from '@pawl/schema/record';
import type { Message } from '@pawl/schema/record';
import { hotQuery } from '../engine/hot-query.ts';
import { integer, nullableJson } from '../row.ts';
import { storeLimits } from '../store-limit.ts';
import type { Database, Row } from '../tables.ts';
import type { WriteTransaction } from '../write-transaction.ts';

/** A message before it is stored: the store adds its id and time. `body`: the whole of it, if the text has less. */
export type NewMessage = Pick<Message, 'agentId' | 'kind' | 'content'> &
  Partial<Pick<Message, 'runId' | 'sessionId' | 'data'>> & { body?: string | undefined };

type MessageValues = [
  agentId: string,
  runId: string | null,
  sessionId: string | null,
  kind: Message['kind'],
  content: string,
  data: string | null,
  createdAt: number,
];

const insertMessage = hotQuery<MessageValues, { id: number | string | bigint }>(
  ['1', '2', '3', 'user', '4', '5', 6],
  (db, [agentId, runId, sessionId, kind, content, data, createdAt]) =>
    db
      .insertInto('messages')
      .values({
        agent_id: agentId,
        run_id: runId,
        session_id: sessionId,
        kind,
        content,
        data,
        created_at: createdAt,
      })
      .returning('id'),
);

const insertBody = hotQuery<[messageId: number, body: string], unknown>([1, '2'], (db, [messageId, body]) =>
  db.insertInto('message_bodies').values({ message_id: messageId, body }),
);

/** Appends a message to an agent's own history and returns its id, which is greater than all before it. */
export async function appendMessage(tx: WriteTransaction, message: NewMessage): Promise<number> {
  const { agentId, runId = null, sessionId = null, kind, content, data = null } = message;
  const values: MessageValues = [
    agentId,
    runId,
    sessionId,
    kind,
    content,
    data === null ? null : JSON.stringify(data),
    tx.now,
  ];
  const { rows } = await insertMessage(tx.db, values);
  const id = integer(rows[0]?.id ?? Number.NaN);
  if (message.body !== undefined) await insertBody(tx.db, [id, message.body]);
  return id;
}

/** The bodies of messages, by message id; most have none. */
export async function messageBodies(db: Database, ids: readonly number[]): Promise<Map<number, string>> {
  const bodies = new Map<number, string>();
  for (let first = 0; first < ids.length; first += storeLimits.bodiesPerQuery) {
    const rows = await db
      .selectFrom('message_bodies')
      .selectAll()
      .where('message_id', 'in', ids.slice(first, first + storeLimits.bodiesPerQuery))
      .execute();
    for (const { message_id, body } of rows) bodies.set(integer(message_id), body);
  }
  return bodies;
}

/** Replaces a partial message by the whole one. */
export async function extendMessage(tx: WriteTransaction, id: number, content: string): Promise<void> {
  await tx.db.updateTable('messages').set({ content }).where('id', '=', id).execute();
}

/** The id of an agent's own latest message, optionally before `beforeId`; 0 if it has none. */
export async function lastMessageId(
  db: Database,
  agentId: string,
  beforeId: number = Number.MAX_SAFE_INTEGER,
): Promise<number> {
  const row = await db
    .selectFrom('messages')
    .select('id')
    .where('agent_id', '=', agentId)
    .where('id', '<', beforeId)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row === undefined ? 0 : integer(row.id);
}

/** The number of messages that one session has added. */
export async function countSessionMessages(db: Database, agentId: string, sessionId: string): Promise<number> {
  const row = await db
    .selectFrom('messages')
    .select(({ fn }) => fn.countAll<number | string | bigint>().as('count'))
    .where('agent_id', '=', agentId)
    .where('session_id', '=', sessionId)
    .executeTakeFirstOrThrow();
  return integer(row.count);
}

/** A session's tool calls and results without their texts, oldest first; tells which tools still run. */
export async function toolMessages(
  db: Database,
  agentId: string,
  sessionId: string,
): Promise<Pick<Message, 'id' | 'kind' | 'data'>[]> {
  const rows = await db
    .selectFrom('messages')
    .select(['id', 'kind', 'data'])
    .where('agent_id', '=', agentId)
    .where('session_id', '=', sessionId)
    .where('kind', 'in', ['tool_call', 'tool_result'])
    .orderBy('id')
    .execute();
  return rows.map((row) => ({ id: integer(row.id), kind: row.kind, data: dataOf(row.data) }));
}

/** True if an agent has said, received or done anything since one of its messages. Notes do not count. */
export async function hasSpokenSince(db: Database, agentId: string, afterId: number): Promise<boolean> {
  const row = await db
    .selectFrom('messages')
    .select('id')
    .where('agent_id', '=', agentId)
    .where('id', '>', afterId)
    .where('kind', 'in', conversationKinds)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** True if the model has answered in a session, in words or by a tool call. */
export async function hasAnswer(db: Database, agentId: string, sessionId: string): Promise<boolean> {
  const row = await db
    .selectFrom('messages')
    .select('id')
    .where('agent_id', '=', agentId)
    .where('session_id', '=', sessionId)
    .where('kind', 'in', ['assistant', 'tool_call'])
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** The last messages of a session, oldest first. */
export async function lastSessionMessages(
  db: Database,
  agentId: string,
  sessionId: string,
  limit: number,
): Promise<Message[]> {
  const rows = await db
    .selectFrom('messages')
    .selectAll()
    .where('agent_id', '=', agentId)
    .where('session_id', '=', sessionId)
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  return rows.map(messageOf).toReversed();
}

/** The last messages of a run, oldest first. */
export async function lastRunMessages(db: Database, agentId: string, runId: string, limit: number): Promise<Message[]> {
  const rows = await db
    .selectFrom('messages')
    .selectAll()
    .where('agent_id', '=', agentId)
    .where('run_id', '=', runId)
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  return rows.map(messageOf).toReversed();
}

/** The messages of a run after one of them, oldest first. */
export async function runMessages(
  db: Database,
  agentId: string,
  runId: string,
  { afterId, limit }: { afterId: number; limit: number },
): Promise<Message[]> {
  const rows = await db
    .selectFrom('messages')
    .selectAll()
    .where('agent_id', '=', agentId)
    .where('run_id', '=', runId)
    .where('id', '>', afterId)
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(messageOf);
}

/** A person's message to an agent at a time. */
export async function userMessageAt(db: Database, agentId: string, at: number): Promise<Message | null> {
  const row = await db
    .selectFrom('messages')
    .selectAll()
    .where('agent_id', '=', agentId)
    .where('created_at', '=', at)
    .where('kind', '=', 'user')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row ? messageOf(row) : null;
}

export function messageOf(row: Row<'messages'>): Message {
  return {
    id: integer(row.id),
    agentId: row.agent_id,
    runId: row.run_id,
    sessionId: row.session_id,
    kind: row.kind,
    content: row.content,
    data: dataOf(row.data),
    createdAt: integer(row.created_at),
  };
}

function dataOf(text: string | null): Message['data'] {
  return nullableJson(messageSchema.shape.data.unwrap(), text);
}
