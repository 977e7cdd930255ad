import { newId } from '@pawl/schema/id';
import type { Account } from '@pawl/schema/record';
import {
  accountById,
  accountByName,
  accountNames,
  insertAccount,
  listAccounts,
  markExhausted,
  openSessionsOf,
  removeAccount,
  touchAccount,
  unusedShellAccounts,
  updateAccount,
} from '@pawl/store/projects/accounts';
import { updateAgent } from '@pawl/store/agents/agents';
import { endSession, insertSession } from '@pawl/store/sessions/sessions';
import type { Store } from '@pawl/store/store';
import { expect, test } from 'vitest';
import { addTeam, fixedTime, sessionRecord } from '../fixture.ts';
import { openFresh } from './engines.ts';
import type { EngineUnderTest } from './engines.ts';

function accountRecord(name: string, fields: Partial<Account> = {}): Account {
  return {
    id: newId(),
    provider: 'claude',
    name,
    kind: 'api-key',
    email: null,
    baseUrl: null,
    createdAt: fixedTime,
    lastUsedAt: null,
    exhaustedUntil: null,
    strikes: 0,
    keyProxy: null,
    invalidReason: null,
    removedAt: null,
    ...fields,
  };
}

async function add(store: Store, ...accounts: Account[]): Promise<void> {
  await store.write(async (tx) => {
    for (const account of accounts) await insertAccount(tx, account);
  });
}

/** The contract of accounts, on every engine. */
export function accountsContract(engine: EngineUnderTest): void {
  test('an account round-trips, by id and by name', async () => {
    const store = await openFresh(engine);
    const full = accountRecord('work', {
      kind: 'token',
      email: 'someone@example.com',
      baseUrl: 'https://models.example.com/v1',
      lastUsedAt: 5,
      exhaustedUntil: 6,
      strikes: 7,
      invalidReason: 'a\0b 😀',
    });
    const other = accountRecord('codex-1', { provider: 'codex' });
    await add(store, full, other);
    expect(await accountById(store.db, full.id)).toEqual(full);
    expect(await accountByName(store.db, 'work')).toEqual(full);
    expect(await accountByName(store.db, 'nobody')).toBeNull();
    expect(await listAccounts(store.db)).toEqual([full, other]);
    expect(await listAccounts(store.db, 'codex')).toEqual([other]);
    await expect(add(store, accountRecord('work', { provider: 'codex' }))).rejects.toMatchObject({ code: 'conflict' });
  });

  test('a removed account keeps its row and frees its name, and is removed once', async () => {
    const store = await openFresh(engine);
    const first = accountRecord('work');
    await add(store, first);
    expect(await store.write((tx) => removeAccount(tx, first.id))).toBe(true);
    expect(await store.write((tx) => removeAccount(tx, first.id))).toBe(false);
    expect(await accountById(store.db, first.id)).toEqual({ ...first, removedAt: fixedTime });
    expect(await accountByName(store.db, 'work')).toBeNull();
    expect(await listAccounts(store.db)).toEqual([]);
    expect(await accountNames(store.db)).toEqual(new Map([[first.id, 'work']]));
    const second = accountRecord('work');
    await add(store, second);
    expect(await accountByName(store.db, 'work')).toEqual(second);
  });

  test('facts of an account change one by one; an unknown account is an error', async () => {
    const store = await openFresh(engine);
    const account = accountRecord('work');
    await add(store, account);
    await store.write(async (tx) => {
      await updateAccount(tx, account.id, { strikes: 2, invalidReason: 'expired' });
      await updateAccount(tx, account.id, {});
      await touchAccount(tx, account.id);
    });
    expect(await accountById(store.db, account.id)).toEqual({
      ...account,
      strikes: 2,
      invalidReason: 'expired',
      lastUsedAt: fixedTime,
    });
    await expect(store.write((tx) => touchAccount(tx, newId()))).rejects.toMatchObject({ code: 'not_found' });
  });

  test('an exhausted account stays so until the latest time reported [S3-35]', async () => {
    const store = await openFresh(engine);
    const account = accountRecord('work');
    await add(store, account);
    for (const [until, kept] of [
      [100, 100],
      [50, 100],
      [200, 200],
    ] as const) {
      await store.write((tx) => markExhausted(tx, account.id, until));
      expect((await accountById(store.db, account.id))?.exhaustedUntil).toBe(kept);
    }
  });

  test('a shell account is found once no living agent uses it', async () => {
    const store = await openFresh(engine);
    const { agent } = await addTeam(store);
    const [used, unused, kept] = [
      accountRecord('shell-a', { kind: 'shell' }),
      accountRecord('shell-b', { kind: 'shell' }),
      accountRecord('kept'),
    ];
    for (const account of [used, unused, kept]) await add(store, account);
    await store.write((tx) => updateAgent(tx, agent.id, { accountId: used.id }));
    expect((await unusedShellAccounts(store.db)).map(({ id }) => id)).toEqual([unused.id]);
    await store.write((tx) => updateAgent(tx, agent.id, { endedAt: tx.now }));
    expect((await unusedShellAccounts(store.db)).map(({ id }) => id).toSorted()).toEqual(
      [used.id, unused.id].toSorted(),
    );
  });

  test('sessions that use an account are counted while they are open', async () => {
    const store = await openFresh(engine);
    const { run, session } = await addTeam(store);
    const account = accountRecord('work');
    await add(store, account);
    const end = (id: string) => store.write((tx) => endSession(tx, id, { exitCode: 0, endReason: 'exited' }));
    expect(await openSessionsOf(store.db, account.id)).toBe(0);
    await end(session.id);
    const second = sessionRecord(run, { no: 2, accountId: account.id });
    await store.write((tx) => insertSession(tx, second));
    expect(await openSessionsOf(store.db, account.id)).toBe(1);
    await end(second.id);
    expect(await openSessionsOf(store.db, account.id)).toBe(0);
  });
}
