import type { Agent } from '@pawl/schema/record';
import { agentView, agentsToReconcile } from '@pawl/store/agents/agent-views';
import { agentById } from '@pawl/store/agents/agents';
import { draftFor, saveDraft } from '@pawl/store/agents/drafts';
import type { Engine } from '@pawl/store/engine/engine';
import { readEvents } from '@pawl/store/events';
import { countHistory, replay } from '@pawl/store/sessions/history';
import { appliedMigrations } from '@pawl/store/engine/migrate';
import { allMigrations } from '@pawl/store/migrations/all-migrations';
import { assignmentsOf, runById } from '@pawl/store/sessions/runs';
import { sessionOffsets } from '@pawl/store/sessions/sessions';
import { openStore } from '@pawl/store/store';
import type { Store } from '@pawl/store/store';
import { expect, test } from 'vitest';
import { fixedClock } from '../fixture.ts';
import { addChild, say, told } from '../lineage.ts';
import { addOldRows, old, oldMigrations } from '../old-database.ts';
import { openAgain } from './engines.ts';
import type { EngineUnderTest } from './engines.ts';

/** Upgrading a database of the first release, on every engine. */
export function upgradeContract(engine: EngineUnderTest): void {
  test('loses nothing, and gives every agent its parent as supervisor', async () => {
    const database = await oldDatabase(engine);
    const store = await openAgain(database);
    expect(await appliedMigrations(store.db)).toEqual(allMigrations.map(({ name }) => name));
    await expectOldRows(store);
    expect(store.lastSeq()).toBe(1);
  });

  test('works like a new one: forked, replayed, written to', async () => {
    const database = await oldDatabase(engine);
    const store = await openAgain(database);
    const parent = (await agentById(store.db, old.agent)) as Agent;
    const child = await addChild(store, parent);
    await say(store, child, 'two');
    expect(await told(store, child)).toEqual(['count', 'one', 'two']);
    await store.write((tx) => saveDraft(tx, child.id, { input: 'a', scroll: 1 }));
    expect(await draftFor(store.db, child.id)).toEqual({ input: 'a', scroll: 1 });
  });

  test('is refused by the first release after the upgrade, and unchanged', async () => {
    const database = await oldDatabase(engine);
    await (await openAgain(database)).close();
    const refused = openStore(database(), { clock: fixedClock, migrations: oldMigrations });
    await expect(refused).rejects.toMatchObject({ code: 'store_too_new' });
    await expectOldRows(await openAgain(database));
  });
}

async function oldDatabase(engine: EngineUnderTest): Promise<() => Engine> {
  const database = await engine.emptyDatabase();
  const store = await openAgain(database, { migrations: oldMigrations });
  await addOldRows(store);
  await store.close();
  return database;
}

/** Compares the rows with those that the first release had written. */
export async function expectOldRows(store: Store): Promise<void> {
  const view = await agentView(store.db, old.agent);
  expect(view?.agent).toMatchObject({
    alias: 'brave-otter',
    parentId: old.root,
    supervisorId: old.root,
    options: { a: 'b' },
    worktree: '/old/tree',
    freshAfter: 0,
    worktreeEnd: null,
    reapedAt: null,
    completion: null,
    adopted: null,
    stuckAt: null,
    stuckReason: null,
  });
  expect(view?.run).toMatchObject({ id: old.run, task: 'count', definition: null });
  expect(await assignmentsOf(store.db, old.agent)).toMatchObject([{ assignment: 'count', startedAt: 5 }]);
  const spent = await runById(store.db, old.spent);
  expect(spent?.cause).toEqual({ reason: 'budget', of: 'agent', detail: '5 of 4 tokens' });
  expect(spent).toMatchObject({ repoPath: '/old', sessionId: 'default' });
  expect(view?.session).toMatchObject({ id: old.session, pid: 42, conversation: 'new', pausedAt: null });
  expect((await agentById(store.db, old.root))?.supervisorId).toBeNull();
  expect(await sessionOffsets(store.db, old.session)).toEqual({ stdout: 77, stderr: 0 });
  const messages = await replay(store.db, old.agent, { limit: 10 });
  expect(messages).toEqual(
    [
      { kind: 'user', content: 'count', createdAt: 7 },
      { kind: 'assistant', content: 'one', createdAt: 8 },
    ].map((message, index) => ({
      ...message,
      id: index + 1,
      agentId: old.agent,
      runId: null,
      sessionId: null,
      data: null,
    })),
  );
  expect(await countHistory(store.db, old.agent)).toEqual({ inherited: 0, own: 2 });
  expect((await agentsToReconcile(store.db)).map(({ agent }) => agent.id)).toEqual([old.agent]);
  const log = await readEvents(store.db, { afterSeq: 0, limit: 10 });
  expect(log.map(({ seq, type, peerId }) => ({ seq, type, peerId }))).toEqual([
    { seq: 1, type: 'daemon.stopped', peerId: null },
  ]);
}
