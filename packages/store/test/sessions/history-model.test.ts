import * as fc from 'fast-check';
import { endurance, seed } from '@pawl/testing/endurance';
import { join } from 'node:path';
import { insertAgent, updateAgent } from '@pawl/store/agents/agents';
import { countHistory, historyRanges, replay } from '@pawl/store/sessions/history';
import { appendMessage } from '@pawl/store/sessions/messages';
import { sqliteEngine } from '@pawl/store/engine/sqlite-engine';
import { openStore } from '@pawl/store/store';
import type { Store } from '@pawl/store/store';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import { expect, onTestFinished, test } from 'vitest';
import { agentRecord, fixedClock, temporaryDirectory } from '../fixture.ts';
import { everything } from '../lineage.ts';

/**
 * The naive model: every agent has a full copy of its history, clears included. A fork copies the list up to the fork
 * point, a clear hides what is before it, and death changes nothing.
 */
type ModelAgent = { id: string; entries: Entry[] };
type Entry = { id: number; own: boolean; clear: boolean };

/** Agent and fork point are numbers, clamped to what exists. */
type Step = { act: 'fork' | 'append' | 'clear' | 'kill' | 'reap'; who: number; point: number };

const step = (weights: Record<Step['act'], number>) =>
  fc.record<Step>({
    act: fc.oneof(
      ...Object.entries(weights).map(([act, weight]) => ({ weight, arbitrary: fc.constant(act as Step['act']) })),
    ),
    who: fc.nat(),
    point: fc.nat(),
  });
const anyStep = step({ fork: 4, append: 8, clear: 1, kill: 1, reap: 1 });

const pageSize = fc.integer({ min: 1, max: 30 });

test('random trees replay like full copies [S1-17, W1-16]', async () => {
  const store = await openStoreHere();
  const steps = fc.array(anyStep, { maxLength: 40, size: 'max' });
  const property = fc.asyncProperty(steps, pageSize, async (tree, size) => {
    const agents = await grow(store, async (tx, family) => {
      for (const each of tree) await take(tx, family, each);
    });
    for (const agent of agents) {
      await compare(store, agent);
      await comparePages(store, agent, size);
    }
  });
  // Report the first failure; shrinking may take minutes.
  await fc.assert(property, { numRuns: endurance({ whole: 100, small: 25 }), seed, interruptAfterTimeLimit: 20_000 });
});

test.each([
  { name: 'calm', odd: 0, runs: 1 },
  { name: 'unruly', odd: 1, runs: 2 },
])('$name chains of 200 generations replay like full copies [S1-33, 3.2.3]', async ({ odd, runs }) => {
  const store = await openStoreHere();
  const between = fc.array(step({ fork: 0, append: 60, clear: odd, kill: 15, reap: 5 }), { maxLength: 3 });
  // Mostly at the latest message, since an early fork point hides most of the chain before it.
  const point = fc.oneof({ weight: 60, arbitrary: fc.constant(-1) }, { weight: odd, arbitrary: fc.nat() });
  const generations = fc.array(fc.record({ between, point }), { minLength: 200, maxLength: 200 });
  const property = fc.asyncProperty(generations, pageSize, async (chain, size) => {
    const agents = await grow(store, async (tx, family) => {
      // Something to inherit: a fork at 0 would end the walk.
      await take(tx, family, { act: 'append', who: 0, point: 0 });
      for (const generation of chain) {
        const who = family.length - 1;
        for (const each of generation.between) await take(tx, family, { ...each, who });
        await take(tx, family, { act: 'fork', who, point: generation.point });
      }
    });
    if (odd === 0) expect(await historyRanges(store.db, agents.at(-1)?.id ?? '')).toHaveLength(201);
    for (const [generation, agent] of agents.entries()) {
      await compare(store, agent);
      if (generation % 8 === 0) await comparePages(store, agent, size);
    }
  });
  await fc.assert(property, { numRuns: runs, endOnFailure: true });
});

async function openStoreHere(): Promise<Store> {
  const store = await openStore(sqliteEngine(join(temporaryDirectory(), 'test.db')), { clock: fixedClock });
  onTestFinished(() => store.close());
  return store;
}

/** Grows a family from one new agent, in one transaction. */
async function grow(
  store: Store,
  steps: (tx: WriteTransaction, family: ModelAgent[]) => Promise<void>,
): Promise<ModelAgent[]> {
  return store.write(async (tx) => {
    const root = agentRecord();
    await insertAgent(tx, root);
    const family: ModelAgent[] = [{ id: root.id, entries: [] }];
    await steps(tx, family);
    return family;
  });
}

/** Executes one step, in the store and in the model. */
async function take(tx: WriteTransaction, family: ModelAgent[], { act, who, point }: Step): Promise<void> {
  const agent = family[who % family.length];
  if (agent === undefined) return;
  if (act === 'kill') return updateAgent(tx, agent.id, { endedAt: tx.now, endReason: 'killed' });
  if (act === 'reap') return updateAgent(tx, agent.id, { endedAt: tx.now, reapedAt: tx.now });
  if (act === 'fork') {
    const points = [0, ...agent.entries.map(({ id }) => id)];
    const forkMessageId = points.at(point < 0 ? -1 : point % points.length) ?? 0;
    const child = agentRecord({ parentId: agent.id, forkMessageId });
    await insertAgent(tx, child);
    const inherited = agent.entries.filter(({ id }) => id <= forkMessageId);
    family.push({ id: child.id, entries: inherited.map((entry) => ({ ...entry, own: false })) });
    return;
  }
  const kind = act === 'clear' ? 'clear' : 'user';
  const id = await appendMessage(tx, { agentId: agent.id, kind, content: '' });
  agent.entries.push({ id, own: true, clear: act === 'clear' });
}

/** Compares a whole history, and its length, with the model. */
async function compare(store: Store, agent: ModelAgent): Promise<void> {
  const seen = seenBy(agent);
  const own = seen.filter((entry) => entry.own).length;
  expect(await countHistory(store.db, agent.id)).toEqual({ inherited: seen.length - own, own });
  expect(idsOf(await replay(store.db, agent.id, { limit: everything }))).toEqual(idsOf(seen));
}

/** Compares every other way to read a history with the model: page by page, and range by range. */
async function comparePages(store: Store, agent: ModelAgent, size: number): Promise<void> {
  const ids = idsOf(seenBy(agent));
  // Few pages, however long the history.
  const limit = Math.max(size, Math.ceil(ids.length / 4));
  const pages: number[] = [];
  for (let more = true; more;) {
    const page = await replay(store.db, agent.id, { afterId: pages.at(-1) ?? 0, limit });
    pages.push(...idsOf(page));
    more = page.length === limit;
  }
  expect(pages).toEqual(ids);
  expect(await byRange(store, agent.id)).toEqual(ids);
}

function seenBy({ entries }: ModelAgent): Entry[] {
  return entries.slice(entries.findLastIndex(({ clear }) => clear) + 1);
}

/** The replay by definition: one query per range. */
async function byRange(store: Store, agentId: string): Promise<number[]> {
  const ids: number[] = [];
  for (const range of await historyRanges(store.db, agentId)) {
    const rows = await store.db
      .selectFrom('messages')
      .select('id')
      .where('agent_id', '=', range.agentId)
      .where('id', '>', range.after)
      .where('id', '<=', range.until ?? Number.MAX_SAFE_INTEGER)
      .orderBy('id')
      .execute();
    for (const { id } of rows) ids.push(Number(id));
  }
  return ids;
}

function idsOf(messages: { id: number }[]): number[] {
  return messages.map(({ id }) => id);
}
