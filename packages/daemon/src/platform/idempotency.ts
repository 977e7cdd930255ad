import { limits } from '@pawl/schema/limit';
import type { Agent } from '@pawl/schema/record';
import { agentById } from '@pawl/store/agents/agents';
import { json, nullable, text } from '@pawl/store/facts/fact-column';
import { factTable } from '@pawl/store/facts/fact-table';
import type { Store } from '@pawl/store/store';
import type { Database } from '@pawl/store/tables';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import * as z from 'zod';

/** The results of recent requests by key, so that a repeated request has no further effect. */
export const idempotencyKeys = factTable('idempotency_keys', ['key'], {
  key: text,
  /** The agent or question that the request created or resumed. */
  id: nullable(text),
  /** The mails that the request sent. */
  mailIds: nullable(json(z.array(z.string()))),
});

/** The agent or question of an earlier request with this key, or null. */
export async function idOfRequest(db: Database, key: string | undefined): Promise<string | null> {
  return key === undefined ? null : ((await idempotencyKeys.get(db, { key }))?.id ?? null);
}

/** The agent that an earlier request with this key created or resumed, or null. */
export async function agentOfRequest(db: Database, key: string | undefined): Promise<Agent | null> {
  const id = await idOfRequest(db, key);
  return id === null ? null : agentById(db, id);
}

export async function rememberRequest(tx: WriteTransaction, key: string | undefined, id: string): Promise<void> {
  if (key !== undefined) await idempotencyKeys.set(tx, { key, id, mailIds: null });
}

/** Deletes keys too old to be repeated. */
export async function forgetRequests(store: Store, now: number): Promise<void> {
  await store.write((tx) => idempotencyKeys.deleteBefore(tx, now - limits.memoryMs));
}
