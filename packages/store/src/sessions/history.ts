import { limits } from '@pawl/schema/limit';
import type { Message } from '@pawl/schema/record';
import { sql } from 'kysely';
import { messageOf } from './messages.ts';
import { integer } from '../row.ts';
import { storeLimits } from '../store-limit.ts';
import type { Database, Row } from '../tables.ts';

/** A range of one agent's own messages: `after` < id ≤ `until`; a null `until` is open. */
export type HistoryRange = { agentId: string; after: number; until: number | null };

/** Greater than any message id: the open end in SQL. */
const openEnd = Number.MAX_SAFE_INTEGER;

/**
 * The lineage of an agent back to the latest visible `clear`, as ranges. Each step back ends at the fork point, so
 * whatever a parent said or cleared after the fork is invisible; a fork at 0 inherits nothing. A fork point among
 * inherited messages cuts those, too. The database walks the lineage, so its length does not matter; it stops early if
 * only messages after `afterId` are requested.
 */
const lineage = (agentId: string, { afterId = 0, whole = false }: { afterId?: number; whole?: boolean } = {}) => {
  // A clear hides earlier messages from the model, but never from a person who asks for everything.
  const kind = sql.lit(whole ? 'no such kind' : 'clear');
  return sql`
  with recursive lineage (agent_id, parent_id, fork_id, until_id, clear_id, depth) as (
    select agents.id, agents.parent_id, agents.fork_message_id, cast(${sql.lit(openEnd)} as bigint),
      (select messages.id from messages where messages.agent_id = agents.id and messages.kind = ${kind}
        order by messages.id desc limit 1), 0
    from agents where agents.id = ${agentId}
    union all
    select agents.id, agents.parent_id, agents.fork_message_id,
      case when lineage.fork_id < lineage.until_id then lineage.fork_id else lineage.until_id end,
      (select messages.id from messages where messages.agent_id = agents.id and messages.kind = ${kind}
        and messages.id <= lineage.fork_id and messages.id <= lineage.until_id
        order by messages.id desc limit 1), lineage.depth + 1
    from lineage join agents on agents.id = lineage.parent_id
    where lineage.clear_id is null and lineage.fork_id > ${afterId} and lineage.until_id > ${afterId}
  )`;
};

/**
 * The ranges of an agent's history, oldest first, in one query. All but the last are closed and never change. Skips
 * ranges that end at or before `afterId`.
 */
export async function historyRanges(
  db: Database,
  agentId: string,
  page: { afterId?: number; limit?: number; whole?: boolean } = {},
): Promise<HistoryRange[]> {
  type Line = { agent_id: string; until_id: number | string | bigint; clear_id: number | string | bigint | null };
  const { rows } = await sql<Line>`${lineage(agentId, page)}
    select agent_id, until_id, clear_id from lineage order by depth desc limit ${page.limit ?? openEnd}`.execute(db);
  return rows.map((row) => {
    const until = integer(row.until_id);
    return {
      agentId: row.agent_id,
      after: row.clear_id === null ? 0 : integer(row.clear_id),
      until: until === openEnd ? null : until,
    };
  });
}

/**
 * The history of an agent, inherited and own, by id, after the message `afterId`. A child's messages are newer than
 * those it inherits, so one order serves the whole lineage and a page may start anywhere. `whole` includes cleared
 * messages. Most pages lie in a few ranges, so only those are fetched at first; a page that needs more gets all of
 * them.
 */
export async function replay(
  db: Database,
  agentId: string,
  page: { afterId?: number; limit: number; whole?: boolean },
): Promise<Message[]> {
  const { whole = false } = page;
  const messages: Message[] = [];
  let afterId = page.afterId ?? 0;
  for (const limit of [storeLimits.rangesPerPage, openEnd]) {
    const ranges = await historyRanges(db, agentId, { afterId, limit, whole });
    await readRanges(db, ranges, { afterId, limit: page.limit, messages });
    const until = ranges.at(-1)?.until ?? null;
    if (until === null || messages.length >= page.limit) break;
    afterId = until;
  }
  return messages;
}

/**
 * Reads ranges in order until the page is full. The first may be long, so it is read alone; then twice as many with
 * each query, so that neither many short nor few long ranges cost much more than their rows.
 */
async function readRanges(
  db: Database,
  ranges: readonly HistoryRange[],
  page: { afterId: number; limit: number; messages: Message[] },
): Promise<void> {
  const { afterId, limit, messages } = page;
  for (let first = 0, count = 1; first < ranges.length && messages.length < limit;) {
    const some = ranges.slice(first, first + count);
    const rows = await messagesIn(db, some, { afterId, limit: limit - messages.length });
    for (const row of rows) messages.push(messageOf(row));
    first += count;
    count = Math.min(2 * count, storeLimits.rangesPerQuery);
  }
}

/** The messages of some ranges, in one query, by id. */
async function messagesIn(
  db: Database,
  ranges: readonly HistoryRange[],
  page: { afterId: number; limit: number },
): Promise<Row<'messages'>[]> {
  const [only] = ranges;
  if (only !== undefined && ranges.length === 1) {
    return db
      .selectFrom('messages')
      .selectAll()
      .where('agent_id', '=', only.agentId)
      .where('id', '>', Math.max(only.after, page.afterId))
      .where('id', '<=', only.until ?? openEnd)
      .orderBy('id')
      .limit(page.limit)
      .execute();
  }
  const values = ranges.map(
    ({ agentId, after, until }) =>
      sql`(cast(${agentId} as text), cast(${Math.max(after, page.afterId)} as bigint), cast(${until ?? openEnd} as bigint))`,
  );
  // A cross join, because SQLite keeps its order; otherwise it would scan all messages by id.
  const { rows } = await sql<Row<'messages'>>`
    with ranges (agent_id, after_id, until_id) as (values ${sql.join(values)})
    select messages.* from ranges cross join messages
    where messages.agent_id = ranges.agent_id and messages.id > ranges.after_id and messages.id <= ranges.until_id
    order by messages.id limit ${page.limit}`.execute(db);
  return rows;
}

/** True if a summary stands for a part of an agent's history. */
export async function hasSummary(db: Database, agentId: string): Promise<boolean> {
  const { rows } = await sql`${lineage(agentId)}
    select 1 from lineage join messages on messages.agent_id = lineage.agent_id
    where messages.kind = 'summary' and messages.id > coalesce(lineage.clear_id, 0) and messages.id <= lineage.until_id
    limit 1`.execute(db);
  return rows.length > 0;
}

/** The number of messages in an agent's history, inherited and own. */
export async function countHistory(db: Database, agentId: string): Promise<{ inherited: number; own: number }> {
  type Count = { depth: number; count: number | string | bigint };
  const { rows } = await sql<Count>`${lineage(agentId)}
    select lineage.depth, (select count(*) from messages where messages.agent_id = lineage.agent_id
      and messages.id > coalesce(lineage.clear_id, 0) and messages.id <= lineage.until_id) as count
    from lineage`.execute(db);
  const counts = { inherited: 0, own: 0 };
  for (const row of rows) counts[row.depth === 0 ? 'own' : 'inherited'] += integer(row.count);
  return counts;
}

export async function wholeHistory(db: Database, agentId: string): Promise<Message[]> {
  const messages: Message[] = [];
  for (;;) {
    const page = await replay(db, agentId, { afterId: messages.at(-1)?.id ?? 0, limit: limits.pageRows });
    messages.push(...page);
    if (page.length < limits.pageRows) return messages;
  }
}
