import type { WebSession } from '@pawl/schema/web/web-session';
import { webLimits, webSessionSchema } from '@pawl/schema/web/web-session';
import { integer, nullableInteger, toColumns } from '../row.ts';
import type { Database, Row } from '../tables.ts';
import type { WriteTransaction } from '../write-transaction.ts';

export async function insertWebSession(tx: WriteTransaction, session: WebSession): Promise<void> {
  await tx.db.insertInto('web_sessions').values(toColumns(session)).execute();
}

/** A session that is neither revoked nor expired, or null. */
export async function validWebSession(db: Database, id: string, now: number): Promise<WebSession | null> {
  const row = await db
    .selectFrom('web_sessions')
    .selectAll()
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', now)
    .executeTakeFirst();
  return row === undefined ? null : sessionFrom(row);
}

/** The sessions that are neither revoked nor expired, newest first. */
export async function validWebSessions(db: Database, now: number): Promise<WebSession[]> {
  const rows = await db
    .selectFrom('web_sessions')
    .selectAll()
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', now)
    .orderBy('ordinal', 'desc')
    .limit(webLimits.listed)
    .execute();
  return rows.map(sessionFrom);
}

export async function markWebSessionUsed(tx: WriteTransaction, id: string): Promise<void> {
  await tx.db.updateTable('web_sessions').set({ used_at: tx.now }).where('id', '=', id).execute();
}

/** Revokes a session; false if it was revoked before. */
export async function revokeWebSession(tx: WriteTransaction, id: string): Promise<boolean> {
  const { numUpdatedRows } = await tx.db
    .updateTable('web_sessions')
    .set({ revoked_at: tx.now })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

function sessionFrom(row: Row<'web_sessions'>): WebSession {
  return webSessionSchema.parse({
    id: row.id,
    proof: row.proof,
    browser: row.browser,
    createdAt: integer(row.created_at),
    usedAt: integer(row.used_at),
    expiresAt: integer(row.expires_at),
    revokedAt: nullableInteger(row.revoked_at),
  });
}
