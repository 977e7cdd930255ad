import type { MailChannel } from '@pawl/schema/mail';
import { sql } from 'kysely';
import type { UpdateQueryBuilder, UpdateResult } from 'kysely';
import type { Tables } from '../tables.ts';
import type { WriteTransaction } from '../write-transaction.ts';

/** State changes of mail. Each happens once, and only forward: the statement's conditions enforce that. */
type Change = UpdateQueryBuilder<Tables, 'mail', 'mail', UpdateResult>;

function ofMail(tx: WriteTransaction, id: string): Change {
  return tx.db.updateTable('mail').where('id', '=', id);
}

/** A waiting mail, claimed or not. */
function ofPending(tx: WriteTransaction, id: string): Change {
  return ofMail(tx, id).where('delivered_at', 'is', null).where('dead_at', 'is', null);
}

/** Executes a change; false if the mail is in another state. */
async function made(change: Change): Promise<boolean> {
  const { numUpdatedRows } = await change.executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

/** Claims a waiting mail for a session. False if it no longer waits. */
export async function claimMail(
  tx: WriteTransaction,
  id: string,
  { sessionId, channel }: { sessionId: string; channel: MailChannel },
): Promise<boolean> {
  const free = ofPending(tx, id).where('claim_session_id', 'is', null);
  return made(free.set({ claim_session_id: sessionId, channel }));
}

/** Releases a claim: the mail waits again. */
export async function releaseMail(tx: WriteTransaction, id: string, attempts: number): Promise<void> {
  await made(ofPending(tx, id).set({ claim_session_id: null, channel: null, attempts }));
}

/** Marks a mail delivered, once. False if it was before, or is a dead letter. */
export async function markDelivered(tx: WriteTransaction, id: string, channel: MailChannel): Promise<boolean> {
  return made(ofPending(tx, id).set({ delivered_at: tx.now, channel, claim_session_id: null }));
}

/** Marks a delivered mail read, once. */
export async function markRead(tx: WriteTransaction, id: string): Promise<boolean> {
  const unread = ofMail(tx, id).where('delivered_at', 'is not', null).where('read_at', 'is', null);
  return made(unread.set({ read_at: tx.now }));
}

/** Marks a mail acknowledged, once; also read, if it was not. */
export async function markAcked(tx: WriteTransaction, id: string): Promise<boolean> {
  const open = ofMail(tx, id).where('delivered_at', 'is not', null).where('acked_at', 'is', null);
  return made(open.set({ acked_at: tx.now, read_at: sql`coalesce(read_at, ${tx.now})` }));
}

/** Makes a waiting mail a dead letter, once. */
export async function markDead(tx: WriteTransaction, id: string, reason: string): Promise<boolean> {
  return made(ofPending(tx, id).set({ dead_at: tx.now, dead_reason: reason, claim_session_id: null }));
}
