import { newId } from '@pawl/schema/id';
import type { FactTableName } from '@pawl/store/facts/fact-tables';
import { factTables } from '@pawl/store/facts/fact-tables';
import { allMigrations } from '@pawl/store/migrations/all-migrations';
import type { Store } from '@pawl/store/store';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { hostileText } from '../fixture.ts';
import { openOldStore, upgradedStore, writtenAt } from '../old-settings.ts';
import { openAgain } from './engines.ts';
import type { EngineUnderTest } from './engines.ts';

type Row = Record<string, unknown>;
type Old = { key: string; value: unknown; table: FactTableName; row: Row };

const [agent, change, project, mail] = [newId(), newId(), newId(), newId()];
const memory = { pushed: null, movedAt: 1.5, isFound: true, lastComment: hostileText };
const told = [{ what: 'w', file: 'f', version: 'v', at: 3 }];

/** One setting of each kind, as earlier releases wrote it, and its row now. */
const settings: readonly Old[] = [
  {
    key: `announced:${agent}`,
    value: 'a run',
    table: 'announcements',
    row: { agent_id: agent, run_id: 'a run' },
  },
  {
    key: `fix:${change}`,
    value: {
      changeId: change,
      projectId: project,
      branch: 'work/a',
      head: 'h',
      path: '/a b',
      isOwnWorktree: true,
      at: 2 ** 45,
    },
    table: 'change_fixes',
    row: {
      change_id: change,
      project_id: project,
      branch: 'work/a',
      head: 'h',
      path: '/a b',
      is_own_worktree: 1,
      at: 2 ** 45,
    },
  },
  {
    key: `returned:${change}`,
    value: { head: 'h', ejectedAt: 5, comments: [mail], to: agent, mailId: null },
    table: 'change_returns',
    row: { change_id: change, head: 'h', ejected_at: 5, comments: `["${mail}"]`, to: agent, mail_id: null },
  },
  {
    key: `crew:${project}:supervisor`,
    value: { wantedAt: 7, agentId: agent },
    table: 'crew_members',
    row: { project_id: project, role: 'supervisor', wanted_at: 7, agent_id: agent },
  },
  {
    key: 'account.default:a:b',
    value: mail,
    table: 'default_accounts',
    row: { provider: 'a:b', account_id: mail },
  },
  {
    key: `dropped:${project}`,
    value: ['t', 'u'],
    table: 'dropped_tips',
    row: { project_id: project, tips: '["t","u"]' },
  },
  {
    key: `errand-merge:${agent}`,
    value: { agentId: agent, into: 'main', from: 'f', to: 't' },
    table: 'errand_merges',
    row: { agent_id: agent, into: 'main', from: 'f', to: 't' },
  },
  {
    key: `follow:${project}`,
    value: { branch: 'main', from: 'f', to: 't' },
    table: 'follow_intents',
    row: { project_id: project, branch: 'main', from: 'f', to: 't' },
  },
  {
    key: `stayed:${project}`,
    value: { tip: 't', reason: hostileText },
    table: 'follow_refusals',
    row: { project_id: project, tip: 't', reason: hostileText },
  },
  {
    key: `foreseen:${project}:work/a:work/b`,
    value: [hostileText],
    table: 'foreseen_conflicts',
    row: { project_id: project, branch: 'work/a', other_branch: 'work/b', files: JSON.stringify([hostileText]) },
  },
  {
    key: `forge:${change}`,
    value: memory,
    table: 'forge_memories',
    row: { change_id: change, memory: JSON.stringify(memory) },
  },
  {
    key: `idempotency:person:work:${hostileText}`,
    value: agent,
    table: 'idempotency_keys',
    row: { key: `person:work:${hostileText}`, id: agent, mail_ids: null },
  },
  {
    key: `idempotency:person:send:a`,
    value: [mail],
    table: 'idempotency_keys',
    row: { key: 'person:send:a', id: null, mail_ids: `["${mail}"]` },
  },
  {
    key: `mail_order:${agent}`,
    value: [mail],
    table: 'mail_orders',
    row: { agent_id: agent, mail_ids: `["${mail}"]` },
  },
  { key: `moved-notice:${agent}`, value: mail, table: 'moved_notices', row: { agent_id: agent, mail_id: mail } },
  { key: `parked:${mail}`, value: true, table: 'parked_items', row: { id: mail } },
  {
    key: `refresh:${agent}`,
    value: { agentId: agent, branch: 'work/a', target: 'main', onto: 'o', from: 'f', to: 't' },
    table: 'refresh_intents',
    row: { agent_id: agent, branch: 'work/a', target: 'main', onto: 'o', from: 'f', to: 't' },
  },
  {
    key: `refresh-told:${agent}`,
    value: 'a.txt\0b.txt',
    table: 'refresh_refusals',
    row: { agent_id: agent, cause: 'a.txt\0b.txt' },
  },
  {
    key: 'mail_file:nobody',
    value: { mailbox: 'nobody', told },
    table: 'refused_mail_files',
    row: { mailbox: 'nobody', told: JSON.stringify(told) },
  },
  {
    key: `trust:${project}`,
    value: { '/a': 'hash' },
    table: 'trusted_definitions',
    row: { project_id: project, files: '{"/a":"hash"}' },
  },
  {
    key: `trusted-settings:${project}`,
    value: { '.claude/settings.json': ['hash'] },
    table: 'trusted_settings',
    row: { project_id: project, files: '{".claude/settings.json":["hash"]}' },
  },
];
const valueByKey = Object.fromEntries(settings.map(({ key, value }) => [key, value]));

/** The settings of an earlier release become typed facts, on every engine. */
export function typedFactsContract(engine: EngineUnderTest): void {
  test('each fact is in the table of its kind, with its time, and none is left over', async () => {
    const store = await upgradedStore(engine, valueByKey);
    for (const table of factTables) {
      const expected = settings.flatMap((each, index) =>
        each.table === table ? [{ ...each.row, updated_at: writtenAt(index) }] : [],
      );
      expect(expected, table).not.toEqual([]);
      expect(await rowsOf(store, table), table).toEqual(expected);
    }
    expect(await tablesOf(store)).not.toContain('settings');
    expect(await tablesOf(store)).not.toContain('unknown_settings');
  });

  test('rows that no kind recognises are kept apart; a default that was taken back is gone', async () => {
    const store = await upgradedStore(engine, {
      'account.default:fake': null,
      'crew:only-a-project': { wantedAt: 1, agentId: agent },
      'mail_file:an-older-shape': { reason: 'x' },
      [`announced:${agent}`]: '',
      'of another program': [hostileText],
    });
    expect(await rowsOf(store, 'unknown_settings')).toEqual([
      { key: 'crew:only-a-project', value: JSON.stringify({ wantedAt: 1, agentId: agent }), updated_at: writtenAt(1) },
      { key: 'mail_file:an-older-shape', value: '{"reason":"x"}', updated_at: writtenAt(2) },
      { key: 'of another program', value: JSON.stringify([hostileText]), updated_at: writtenAt(4) },
    ]);
    expect(await rowsOf(store, 'default_accounts')).toEqual([]);
    expect(await rowsOf(store, 'announcements')).toEqual([{ agent_id: agent, run_id: null, updated_at: writtenAt(3) }]);
  });

  test.each(['errand-merge:', 'fix:', 'follow:', 'refresh:'])(
    'work of the kind %s that cannot be read is refused, and every row is kept',
    async (prefix) => {
      const { database, store } = await openOldStore(engine, { ...valueByKey, [`${prefix}x`]: { from: 'f' } });
      await store.close();
      await expect(openAgain(database)).rejects.toMatchObject({
        code: 'store_failed',
        message: expect.stringContaining(`${prefix}x`),
      });
      const before = await openAgain(database, { migrations: allMigrations.filter(({ name }) => name < '0018') });
      expect(await rowsOf(before, 'settings')).toHaveLength(settings.length + 1);
      expect(await tablesOf(before)).not.toContain('errand_merges');
    },
  );
}

/** The rows of a table by their first column, with its numbers as numbers on every engine. */
async function rowsOf(store: Store, table: string): Promise<Row[]> {
  const { rows } = await sql<Row>`select * from ${sql.table(table)} order by updated_at`.execute(store.db);
  const numbers = new Set(['updated_at', 'wanted_at', 'ejected_at', 'at', 'is_own_worktree']);
  return rows.map((row) =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [name, numbers.has(name) ? Number(value) : value])),
  );
}

async function tablesOf(store: Store): Promise<string[]> {
  return (await store.db.introspection.getTables()).map((table) => table.name);
}
