import { PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import type { Account } from '@pawl/schema/record';
import { integer, nullableInteger, toColumns } from '../row.ts';
import type { Database, Row } from '../tables.ts';
import type { WriteTransaction } from '../write-transaction.ts';

/** Fields of an account that may change. */
export type AccountPatch = Partial<
  Pick<Account, 'email' | 'baseUrl' | 'lastUsedAt' | 'exhaustedUntil' | 'strikes' | 'invalidReason'>
>;

/** Adds an account. A taken name is a conflict; names of removed accounts are free again. */
export async function insertAccount(tx: WriteTransaction, account: Account): Promise<void> {
  await tx.db.insertInto('accounts').values(toColumns(account)).execute();
}

export async function updateAccount(tx: WriteTransaction, id: string, patch: AccountPatch): Promise<void> {
  const columns = toColumns(patch);
  if (Object.keys(columns).length === 0) return;
  const { numUpdatedRows } = await tx.db
    .updateTable('accounts')
    .set(columns)
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  if (numUpdatedRows !== 1n) throw unknownAccount(id);
}

/** Records that an account is used now, for least-recently-used rotation. */
export async function touchAccount(tx: WriteTransaction, id: string): Promise<void> {
  await updateAccount(tx, id, { lastUsedAt: tx.now });
}

/** Marks an account as exhausted until a time. Never moves the time earlier. */
export async function markExhausted(tx: WriteTransaction, id: string, until: number): Promise<void> {
  await tx.db
    .updateTable('accounts')
    .set({ exhausted_until: until })
    .where('id', '=', id)
    .where(({ eb, or }) => or([eb('exhausted_until', 'is', null), eb('exhausted_until', '<', until)]))
    .execute();
}

/** Removes an account; its row stays. Returns false if it was removed before. */
export async function removeAccount(tx: WriteTransaction, id: string): Promise<boolean> {
  const { numUpdatedRows } = await tx.db
    .updateTable('accounts')
    .set({ removed_at: tx.now })
    .where('id', '=', id)
    .where('removed_at', 'is', null)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

/** The account with this id, removed or not, or null. */
export async function accountById(db: Database, id: string): Promise<Account | null> {
  const row = await db.selectFrom('accounts').selectAll().where('id', '=', id).executeTakeFirst();
  return row ? accountOf(row) : null;
}

/** The current account with this name, or null. */
export async function accountByName(db: Database, name: string): Promise<Account | null> {
  const row = await db
    .selectFrom('accounts')
    .selectAll()
    .where('name', '=', name)
    .where('removed_at', 'is', null)
    .executeTakeFirst();
  return row ? accountOf(row) : null;
}

/** The accounts that are not removed, of one provider or of all, by provider and name. */
export async function listAccounts(db: Database, provider?: string): Promise<Account[]> {
  const rows = await db
    .selectFrom('accounts')
    .selectAll()
    .where('removed_at', 'is', null)
    .$if(provider !== undefined, (query) => query.where('provider', '=', provider ?? ''))
    .orderBy('provider')
    .orderBy('name')
    .limit(limits.pageRows)
    .execute();
  return rows.map(accountOf);
}

/** The names of all accounts by id, including removed ones. */
export async function accountNames(db: Database): Promise<Map<string, string>> {
  const rows = await db.selectFrom('accounts').select(['id', 'name']).execute();
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** Shell accounts that no living agent uses. */
export async function unusedShellAccounts(db: Database): Promise<Account[]> {
  const rows = await db
    .selectFrom('accounts')
    .selectAll()
    .where('kind', '=', 'shell')
    .where('removed_at', 'is', null)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('agents')
            .select('agents.id')
            .whereRef('agents.account_id', '=', 'accounts.id')
            .where('agents.ended_at', 'is', null),
        ),
      ),
    )
    .execute();
  return rows.map(accountOf);
}

/** The number of open sessions that use an account. */
export async function openSessionsOf(db: Database, accountId: string): Promise<number> {
  const row = await db
    .selectFrom('sessions')
    .select(({ fn }) => fn.countAll<number | string | bigint>().as('count'))
    .where('account_id', '=', accountId)
    .where('ended_at', 'is', null)
    .executeTakeFirstOrThrow();
  return integer(row.count);
}

function accountOf(row: Row<'accounts'>): Account {
  return {
    id: row.id,
    provider: row.provider,
    name: row.name,
    kind: row.kind,
    email: row.email,
    baseUrl: row.base_url,
    keyProxy: row.key_proxy,
    createdAt: integer(row.created_at),
    lastUsedAt: nullableInteger(row.last_used_at),
    exhaustedUntil: nullableInteger(row.exhausted_until),
    strikes: integer(row.strikes),
    invalidReason: row.invalid_reason,
    removedAt: nullableInteger(row.removed_at),
  };
}

function unknownAccount(id: string): PawlError {
  return new PawlError('not_found', `There is no account ${id}.`, {
    hint: 'List the accounts with `pawl account ls`.',
  });
}
