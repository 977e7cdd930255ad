import { limits } from '@pawl/schema/limit';
import type { Agent } from '@pawl/schema/record';
import { agentById } from '@pawl/store/agents/agents';
import { forgetSettings, getSetting, setSetting } from '@pawl/store/settings';
import type { Store } from '@pawl/store/store';
import type { Database } from '@pawl/store/tables';
import type { WriteTransaction } from '@pawl/store/write-transaction';

/** Prefix of settings that map a request to its agent, so that a repeated request has no further effect. */
export const idempotencyPrefix = 'idempotency:';

/** The agent that an earlier request with this key created or resumed, or null. */
export async function agentOfRequest(db: Database, key: string | undefined): Promise<Agent | null> {
  if (key === undefined) return null;
  const id = await getSetting(db, idempotencyPrefix + key);
  return typeof id === 'string' ? agentById(db, id) : null;
}

export async function rememberRequest(tx: WriteTransaction, key: string | undefined, agentId: string): Promise<void> {
  if (key !== undefined) await setSetting(tx, idempotencyPrefix + key, agentId);
}

/** Deletes keys too old to be repeated. */
export async function forgetRequests(store: Store, now: number): Promise<void> {
  await store.write((tx) => forgetSettings(tx, idempotencyPrefix, now - limits.memoryMs));
}
