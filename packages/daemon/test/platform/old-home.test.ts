import { defaultAccounts } from '@pawl/daemon/accounts/account-view';
import { mergeIntents } from '@pawl/daemon/agents/errands/merge-intent';
import { changeFixes } from '@pawl/daemon/agents/worktrees/fix-record';
import { followIntents, followRefusals } from '@pawl/daemon/changes/landing/local-branch';
import { changeReturns } from '@pawl/daemon/changes/repair/returned';
import { trustedDefinitions, trustedSettings } from '@pawl/daemon/definitions/trust/trusted-files';
import { forgeMemoryOf } from '@pawl/daemon/forge-sync/forge-memory';
import { refusedFiles } from '@pawl/daemon/mail/files/refused-files';
import { mailOrders } from '@pawl/daemon/mail/mail-lookup';
import { idempotencyKeys } from '@pawl/daemon/platform/idempotency';
import { memberOf } from '@pawl/daemon/projects/crew-member';
import { isParked } from '@pawl/daemon/questions/unanswered';
import { movedNotices, refreshIntents, refreshRefusals } from '@pawl/daemon/queue/refresh-intent';
import { announcements } from '@pawl/daemon/supervision/complete';
import { newId } from '@pawl/schema/id';
import { insertAgent } from '@pawl/store/agents/agents';
import { openDataDirectory } from '@pawl/store/directory/data-directory';
import { openDatabase } from '@pawl/store/directory/recovery';
import { sqliteEngine } from '@pawl/store/engine/sqlite-engine';
import { allMigrations } from '@pawl/store/migrations/all-migrations';
import { openStore } from '@pawl/store/store';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { startTestDaemon } from '../support/daemon.ts';
import { agentRecord } from '../support/records.ts';

const root = agentRecord({ alias: 'root', class: 'persistent', provider: null });
const otter = agentRecord({ alias: 'brave-otter', parentId: root.id, supervisorId: root.id });

/** Makes the database of a home as the last release did that kept its facts in the table `settings`. */
async function makeOldHome(path: string, settings: Record<string, unknown>): Promise<void> {
  const migrations = allMigrations.filter(({ name }) => name < '0017');
  const file = openDataDirectory(path).database;
  await (await openStore(sqliteEngine(file), { clock: Date.now, migrations })).close();
  using database = new DatabaseSync(file);
  const columns = database
    .prepare('pragma table_info(agents)')
    .all()
    .map(({ name }) => String(name));
  const places = columns.map(() => '?').join(', ');
  const insertRow = database.prepare(`insert into agents (${columns.join(', ')}) values (${places})`);
  for (const row of await agentRows()) insertRow.run(...columns.map((name) => row[name] ?? null));
  const insert = database.prepare('insert into settings (key, value, updated_at) values (?, ?, ?)');
  for (const [key, value] of Object.entries({ root_agent: root.id, current_agent: otter.id, ...settings }))
    insert.run(key, JSON.stringify(value), Date.now());
}

/** Both agents as rows of this release, which has all columns of earlier ones. */
async function agentRows() {
  await using place = await temporaryDirectory();
  const file = join(place.path, 'agents.db');
  const store = await openStore(sqliteEngine(file), { clock: Date.now });
  await store.write(async (tx) => {
    for (const agent of [root, otter]) await insertAgent(tx, agent);
  });
  await store.close();
  using database = new DatabaseSync(file, { readOnly: true });
  return database.prepare('select * from agents order by rowid').all();
}

test('a home of an earlier release opens, with its agents and the requests that were made', async () => {
  await using place = await temporaryDirectory();
  const home = join(place.path, 'home');
  await makeOldHome(home, { 'idempotency:person:work:asked-before': otter.id });
  await using daemon = await startTestDaemon({ home });
  const selection = await daemon.client.selection();
  expect(selection).toMatchObject({ current: { id: otter.id }, parent: { id: root.id } });
  const repeated = await daemon.client.work({ path: daemon.repository, task: 'x' }, 'asked-before');
  expect(repeated.agent.id).toBe(otter.id);
});

test('every room finds the facts that an earlier release stored', async () => {
  await using place = await temporaryDirectory();
  const [id, other] = [newId(), newId()];
  const project = { id, name: 'p', root: '/p', createdAt: 1 };
  const fix = { changeId: id, projectId: other, branch: 'b', head: 'h', path: '/p', isOwnWorktree: true, at: 1 };
  const returned = { head: 'h', ejectedAt: null, comments: [other], to: other, mailId: other };
  const refresh = { agentId: id, branch: 'b', target: 'main', onto: 'o', from: 'f', to: 't' };
  const told = [{ what: 'w', file: 'f', version: 'v', at: 1 }];
  const memory = { pushed: 'h', movedAt: 1, isFound: true, isReady: false, isFlagged: true, lastComment: null };
  await makeOldHome(place.path, {
    'account.default:claude': other,
    [`announced:${id}`]: other,
    [`crew:${id}:supervisor`]: { wantedAt: 1, agentId: other },
    [`errand-merge:${id}`]: { agentId: id, into: 'main', from: 'f', to: 't' },
    [`fix:${id}`]: fix,
    [`follow:${id}`]: { branch: 'main', from: 'f', to: 't' },
    [`stayed:${id}`]: { tip: 't', reason: 'r' },
    [`forge:${id}`]: { ...memory, isClosed: false },
    'idempotency:k': [other],
    [`mail_file:${id}`]: { mailbox: id, told },
    [`mail_order:${id}`]: [other],
    [`moved-notice:${id}`]: other,
    [`parked:${id}`]: true,
    [`refresh:${id}`]: refresh,
    [`refresh-told:${id}`]: 'c',
    [`returned:${id}`]: returned,
    [`trust:${id}`]: { '/p': 'h' },
    [`trusted-settings:${id}`]: { p: ['h'] },
  });
  const store = await openDatabase(openDataDirectory(place.path), { clock: Date.now });
  const { db } = store;
  try {
    expect(await defaultAccounts.get(db, { provider: 'claude' })).toEqual({ provider: 'claude', accountId: other });
    expect(await announcements.all(db)).toEqual([{ agentId: id, runId: other }]);
    expect(await memberOf(db, project, 'supervisor')).toMatchObject({ wantedAt: 1, agentId: other });
    expect(await mergeIntents.all(db)).toEqual([{ agentId: id, into: 'main', from: 'f', to: 't' }]);
    expect(await changeFixes.all(db)).toEqual([fix]);
    expect(await followIntents.all(db)).toEqual([{ projectId: id, branch: 'main', from: 'f', to: 't' }]);
    expect(await followRefusals.all(db)).toEqual([{ projectId: id, tip: 't', reason: 'r' }]);
    expect(await forgeMemoryOf(db, id)).toEqual({ ...memory, isClosed: false, refused: null });
    expect(await idempotencyKeys.get(db, { key: 'k' })).toEqual({ key: 'k', id: null, mailIds: [other] });
    expect(await refusedFiles.all(db)).toEqual([{ mailbox: id, told }]);
    expect(await mailOrders.all(db)).toEqual([{ agentId: id, mailIds: [other] }]);
    expect(await movedNotices.all(db)).toEqual([{ agentId: id, mailId: other }]);
    expect(await isParked(db, id)).toBe(true);
    expect(await refreshIntents.all(db)).toEqual([refresh]);
    expect(await refreshRefusals.all(db)).toEqual([{ agentId: id, cause: 'c' }]);
    expect(await changeReturns.all(db)).toEqual([{ changeId: id, ...returned }]);
    expect(await trustedDefinitions(db, id)).toEqual({ '/p': 'h' });
    expect(await trustedSettings(db, id)).toEqual({ p: ['h'] });
  } finally {
    await store.close();
  }
});
