import type { Agent } from '@pawl/schema/record';
import { updateAgent } from '@pawl/store/agents/agents';
import {
  descendants,
  descendsFrom,
  livingChildren,
  nearestLivingAncestor,
  supervisedBy,
} from '@pawl/store/agents/family';
import { endRun, insertRun, openRuns, runTree } from '@pawl/store/sessions/runs';
import type { Store } from '@pawl/store/store';
import { expect, test } from 'vitest';
import { addTeam, runRecord } from '../fixture.ts';
import { addChild, addRoot } from '../lineage.ts';
import { openFresh } from './engines.ts';
import type { EngineUnderTest } from './engines.ts';

const idsOf = (records: { id: string }[]) => records.map(({ id }) => id);

/** The contract of relations between agents and between runs, on every engine. */
export function familyContract(engine: EngineUnderTest): void {
  test('a family is complete, children before parents, including descendants of dead agents [W1-12, S1-21]', async () => {
    const store = await openFresh(engine);
    const { root, child, sibling, grandchild, greatGrandchild } = await addFamily(store);
    await end(store, child);
    expect(idsOf(await descendants(store.db, root.id))).toEqual(
      idsOf([greatGrandchild, grandchild, sibling, child, root]),
    );
    expect(idsOf(await descendants(store.db, child.id))).toEqual(idsOf([greatGrandchild, grandchild, child]));
    expect(await descendants(store.db, greatGrandchild.id)).toEqual([greatGrandchild]);
    expect(await descendants(store.db, 'nobody')).toEqual([]);
  });

  test("a parent's living children are listed, oldest first [W1-02]", async () => {
    const store = await openFresh(engine);
    const { root, child, sibling, grandchild } = await addFamily(store);
    expect(await livingChildren(store.db, root.id)).toEqual([child, sibling]);
    await end(store, child);
    expect(await livingChildren(store.db, root.id)).toEqual([sibling]);
    expect(await livingChildren(store.db, child.id)).toEqual([grandchild]);
    expect(await livingChildren(store.db, 'nobody')).toEqual([]);
  });

  test('the nearest living ancestor takes over, and the parent stays the same [S1-23]', async () => {
    const store = await openFresh(engine);
    const { root, child, sibling, grandchild, greatGrandchild } = await addFamily(store);
    expect(await nearestLivingAncestor(store.db, greatGrandchild.id)).toEqual(grandchild);
    await end(store, grandchild);
    expect(await nearestLivingAncestor(store.db, greatGrandchild.id)).toEqual(child);
    await end(store, child);
    expect(await nearestLivingAncestor(store.db, greatGrandchild.id)).toEqual(root);
    expect(await nearestLivingAncestor(store.db, root.id)).toBeNull();
    await store.write((tx) => updateAgent(tx, greatGrandchild.id, { supervisorId: root.id }));
    const supervised = { ...greatGrandchild, supervisorId: root.id };
    expect(await supervisedBy(store.db, root.id)).toEqual([sibling, supervised]);
    expect(await supervisedBy(store.db, grandchild.id)).toEqual([]);
    expect(supervised.parentId).toBe(grandchild.id);
  });

  test('an agent descends from its ancestors, and neither from itself nor from its relatives', async () => {
    const store = await openFresh(engine);
    const { root, child, sibling, grandchild } = await addFamily(store);
    expect(await descendsFrom(store.db, grandchild.id, child.id)).toBe(true);
    expect(await descendsFrom(store.db, grandchild.id, root.id)).toBe(true);
    expect(await descendsFrom(store.db, grandchild.id, sibling.id)).toBe(false);
    expect(await descendsFrom(store.db, child.id, grandchild.id)).toBe(false);
    expect(await descendsFrom(store.db, child.id, child.id)).toBe(false);
    expect(await descendsFrom(store.db, 'nobody', 'nobody')).toBe(false);
  });

  test('the runs of a tree come children before parents, and open runs in order', async () => {
    const store = await openFresh(engine);
    const { agent, run } = await addTeam(store);
    const first = runRecord(agent, { parentRunId: run.id });
    const below = runRecord(agent, { parentRunId: first.id });
    const second = runRecord(agent, { parentRunId: run.id });
    const stranger = runRecord(agent);
    await store.write(async (tx) => {
      for (const record of [first, below, second, stranger]) await insertRun(tx, record);
    });
    expect(await runTree(store.db, run.id)).toEqual([below, second, first, run]);
    expect(await runTree(store.db, first.id)).toEqual([below, first]);
    expect(await runTree(store.db, 'no run')).toEqual([]);
    await store.write((tx) => endRun(tx, first.id, { outcome: 'cancelled', detail: null, questions: null }));
    expect(await openRuns(store.db)).toEqual([run, below, second, stranger]);
    expect(idsOf(await runTree(store.db, run.id))).toEqual(idsOf([below, second, first, run]));
  });
}

async function addFamily(store: Store) {
  const root = await addRoot(store);
  const child = await addChild(store, root);
  const grandchild = await addChild(store, child);
  const sibling = await addChild(store, root);
  const greatGrandchild = await addChild(store, grandchild);
  await addRoot(store);
  return { root, child, sibling, grandchild, greatGrandchild };
}

async function end(store: Store, agent: Agent): Promise<void> {
  await store.write((tx) => updateAgent(tx, agent.id, { endedAt: 1, endReason: 'killed' }));
}
