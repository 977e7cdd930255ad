import { limits } from '@pawl/schema/limit';
import type { Message } from '@pawl/schema/record';
import { integer } from './row.ts';
import type { Database, Row } from './tables.ts';
import type { WriteTransaction } from './write-transaction.ts';

/** Adds a message to an agent's conversation. */
export async function appendMessage(
  tx: WriteTransaction,
  message: Pick<Message, 'agentId' | 'kind' | 'content'>,
): Promise<Message> {
  const { id } = await tx.db
    .insertInto('messages')
    .values({ agent_id: message.agentId, kind: message.kind, content: message.content, created_at: tx.now })
    .returning('id')
    .executeTakeFirstOrThrow();
  return {
    id: integer(id),
    agentId: message.agentId,
    kind: message.kind,
    content: message.content,
    createdAt: tx.now,
  };
}

/** The agent's own messages, oldest first, after the one with id `afterId`. */
export async function messagesOf(
  db: Database,
  agentId: string,
  page: { afterId?: number; limit?: number } = {},
): Promise<Message[]> {
  const rows = await db
    .selectFrom('messages')
    .selectAll()
    .where('agent_id', '=', agentId)
    .where('id', '>', page.afterId ?? 0)
    .orderBy('id')
    .limit(Math.min(page.limit ?? limits.pageRows, limits.pageRows))
    .execute();
  return rows.map(messageOf);
}

function messageOf(row: Row<'messages'>): Message {
  return {
    id: integer(row.id),
    agentId: row.agent_id,
    kind: row.kind,
    content: row.content,
    createdAt: integer(row.created_at),
  };
}
