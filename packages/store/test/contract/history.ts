import { insertAgent, updateAgent } from '@pawl/store/agents/agents';
import { countHistory, hasSummary, historyRanges, replay } from '@pawl/store/sessions/history';
import {
  appendMessage,
  countSessionMessages,
  hasAnswer,
  hasSpokenSince,
  lastMessageId,
  lastSessionMessages,
  messageBodies,
  toolMessages,
} from '@pawl/store/sessions/messages';
import { storeLimits } from '@pawl/store/store-limit';
import { expect, test } from 'vitest';
import { addTeam, agentRecord, fixedTime, range } from '../fixture.ts';
import { addChild, addRoot, clear, everything, say, told } from '../lineage.ts';
import { openFresh } from './engines.ts';
import type { EngineUnderTest } from './engines.ts';

/** The contract of history, on every engine. */
export function historyContract(engine: EngineUnderTest): void {
  test("a child starts with the parent's messages, and stores only later ones [S1-17, S1-32]", async () => {
    const store = await openFresh(engine);
    const parent = await addRoot(store);
    await say(store, parent, 'one', 'two');
    const child = await addChild(store, parent);
    expect(await told(store, child)).toEqual(['one', 'two']);
    await say(store, parent, 'only the parent');
    await say(store, child, 'only the child');
    expect(await told(store, child)).toEqual(['one', 'two', 'only the child']);
    expect(await told(store, parent)).toEqual(['one', 'two', 'only the parent']);
    const own = await store.db.selectFrom('messages').select('content').where('agent_id', '=', child.id).execute();
    expect(own).toEqual([{ content: 'only the child' }]);
    expect(await countHistory(store.db, child.id)).toEqual({ inherited: 2, own: 1 });
    expect(await countHistory(store.db, parent.id)).toEqual({ inherited: 0, own: 3 });
  });

  test('the ranges go back to the latest visible clear, and are read forwards [W1-16]', async () => {
    const store = await openFresh(engine);
    const root = await addRoot(store);
    await say(store, root, 'before');
    const cleared = await clear(store, root);
    const [, rootFork = 0] = await say(store, root, 'a', 'b', 'later');
    const middle = await addChild(store, root, { forkMessageId: rootFork });
    const [middleFork = 0] = await say(store, middle, 'c', 'later');
    const leaf = await addChild(store, middle, { forkMessageId: middleFork });
    await say(store, leaf, 'd');
    const ranges = [
      { agentId: root.id, after: cleared, until: rootFork },
      { agentId: middle.id, after: 0, until: middleFork },
      { agentId: leaf.id, after: 0, until: null },
    ];
    expect(await historyRanges(store.db, leaf.id)).toEqual(ranges);
    expect(await historyRanges(store.db, leaf.id, { afterId: rootFork })).toEqual(ranges.slice(1));
    expect(await told(store, leaf)).toEqual(['a', 'b', 'c', 'd']);
  });

  test('the order is by id, regardless of the clock [3.2.1]', async () => {
    let now = 9_000;
    const store = await openFresh(engine, { clock: () => now });
    const parent = await addRoot(store);
    await say(store, parent, 'first', 'second');
    now = 5_000;
    await say(store, parent, 'third');
    const child = await addChild(store, parent);
    now = 1;
    await say(store, child, 'fourth');
    now = 9_000;
    await say(store, child, 'fifth');
    expect(await told(store, child)).toEqual(['first', 'second', 'third', 'fourth', 'fifth']);
    const messages = await replay(store.db, child.id, { limit: everything });
    expect(messages.map(({ createdAt }) => createdAt)).toEqual([9_000, 9_000, 5_000, 1, 9_000]);
  });

  test('a clear in the child ends the lineage there [3.2.2]', async () => {
    const store = await openFresh(engine);
    const parent = await addRoot(store);
    await say(store, parent, 'inherited');
    const child = await addChild(store, parent);
    await say(store, child, 'own');
    await clear(store, child);
    expect(await told(store, child)).toEqual([]);
    expect(await countHistory(store.db, child.id)).toEqual({ inherited: 0, own: 0 });
    await say(store, child, 'afresh');
    expect(await told(store, child)).toEqual(['afresh']);
    expect(await told(store, parent)).toEqual(['inherited']);
  });

  test('a clear in the parent before the fork point hides earlier messages from child and grandchild [3.2.2]', async () => {
    const store = await openFresh(engine);
    const parent = await addRoot(store);
    await say(store, parent, 'hidden');
    await clear(store, parent);
    await say(store, parent, 'hidden too');
    await clear(store, parent);
    await say(store, parent, 'seen');
    const child = await addChild(store, parent);
    const grandchild = await addChild(store, child, { forkMessageId: (await say(store, child, 'own'))[0] ?? 0 });
    expect(await told(store, child)).toEqual(['seen', 'own']);
    expect(await told(store, grandchild)).toEqual(['seen', 'own']);
  });

  test('a clear in the parent after the fork point does not affect the child; one at it does [3.2.2]', async () => {
    const store = await openFresh(engine);
    const parent = await addRoot(store);
    await say(store, parent, 'kept');
    const before = await addChild(store, parent);
    const cleared = await clear(store, parent);
    const at = await addChild(store, parent, { forkMessageId: cleared });
    await say(store, parent, 'new');
    expect(await told(store, before)).toEqual(['kept']);
    expect(await told(store, at)).toEqual([]);
    expect(await told(store, parent)).toEqual(['new']);
  });

  test('a fork at 0 inherits nothing, whether or not the parent has messages [3.2.3]', async () => {
    const store = await openFresh(engine);
    const parent = await addRoot(store);
    const early = await addChild(store, parent);
    await say(store, parent, 'nobody inherits this');
    const late = await addChild(store, parent, { forkMessageId: 0 });
    for (const child of [early, late]) {
      expect(child.forkMessageId).toBe(0);
      expect(await historyRanges(store.db, child.id)).toEqual([{ agentId: child.id, after: 0, until: null }]);
      await say(store, child, 'own');
      expect(await told(store, child)).toEqual(['own']);
      expect(await told(store, await addChild(store, child))).toEqual(['own']);
    }
  });

  test('sixty generations, and more than are fetched at once, are one history [3.2.3]', async () => {
    const store = await openFresh(engine);
    const generations = 60 + storeLimits.rangesPerPage + 2 * storeLimits.rangesPerQuery;
    const agents = [await addRoot(store)];
    const expected: string[] = [];
    await store.write(async (tx) => {
      let forkMessageId = 0;
      for (const generation of range(1, generations)) {
        const parent = agents.at(-1);
        if (parent === undefined) return;
        // Every seventh says nothing, so that its child's fork point is an inherited message.
        if (generation % 7 !== 0) {
          const content = `${generation}`;
          forkMessageId = await appendMessage(tx, { agentId: parent.id, kind: 'user', content });
          expected.push(content);
        }
        const child = agentRecord({ parentId: parent.id, forkMessageId });
        await insertAgent(tx, child);
        agents.push(child);
      }
    });
    const [sixtyfirst, last] = [agents[60] ?? agentRecord(), agents.at(-1) ?? agentRecord()];
    expect(await told(store, sixtyfirst)).toEqual(expected.filter((content) => Number(content) <= 61));
    expect(await told(store, last)).toEqual(expected);
    expect(await countHistory(store.db, last.id)).toEqual({ inherited: expected.length, own: 0 });
    expect(await historyRanges(store.db, last.id)).toHaveLength(generations + 1);
  });

  test('a fork point among inherited messages cuts those', async () => {
    const store = await openFresh(engine);
    const root = await addRoot(store);
    const [first = 0] = await say(store, root, 'one', 'two', 'three');
    const middle = await addChild(store, root);
    await say(store, middle, 'four');
    await clear(store, middle);
    const leaf = await addChild(store, middle, { forkMessageId: first });
    expect(await told(store, leaf)).toEqual(['one']);
    expect(await countHistory(store.db, leaf.id)).toEqual({ inherited: 1, own: 0 });
  });

  test('the history of a killed and reaped parent can still be read [3.2.6]', async () => {
    const store = await openFresh(engine);
    const parent = await addRoot(store);
    await say(store, parent, 'of the dead');
    const child = await addChild(store, parent);
    await store.write((tx) => updateAgent(tx, parent.id, { endedAt: 1, endReason: 'killed', reapedAt: 2 }));
    await say(store, child, 'of the living');
    expect(await told(store, child)).toEqual(['of the dead', 'of the living']);
    expect(await told(store, parent)).toEqual(['of the dead']);
  });

  test('pages of any size, from anywhere, add up to the whole', async () => {
    const store = await openFresh(engine);
    let agent = await addRoot(store);
    for (const generation of range(1, 5)) {
      await say(store, agent, ...range(1, generation).map((number) => `${generation}.${number}`));
      agent = await addChild(store, agent);
    }
    const whole = await replay(store.db, agent.id, { limit: everything });
    expect(whole).toHaveLength(15);
    for (const limit of [1, 2, 4, 14, 15, 16]) {
      const pages = [];
      for (let page = whole.slice(0, 0), first = true; first || page.length === limit; first = false) {
        page = await replay(store.db, agent.id, { afterId: page.at(-1)?.id ?? 0, limit });
        pages.push(page);
      }
      expect(pages.flat()).toEqual(whole);
      for (const [index, { id }] of whole.entries()) {
        const page = await replay(store.db, agent.id, { afterId: id, limit });
        expect(page).toEqual(whole.slice(index + 1, index + 1 + limit));
      }
    }
  });

  test('an unknown agent has no history', async () => {
    const store = await openFresh(engine);
    expect(await historyRanges(store.db, 'nobody')).toEqual([]);
    expect(await replay(store.db, 'nobody', { limit: 1 })).toEqual([]);
    expect(await countHistory(store.db, 'nobody')).toEqual({ inherited: 0, own: 0 });
    expect(await lastMessageId(store.db, 'nobody')).toBe(0);
  });

  test('a summary is found in the lineage, up to the fork and after a clear', async () => {
    const store = await openFresh(engine);
    const parent = await addRoot(store);
    await say(store, parent, 'one');
    const before = await addChild(store, parent);
    await store.write((tx) => appendMessage(tx, { agentId: parent.id, kind: 'summary', content: 'in short' }));
    const after = await addChild(store, parent);
    expect(await hasSummary(store.db, parent.id)).toBe(true);
    expect(await hasSummary(store.db, before.id)).toBe(false);
    expect(await hasSummary(store.db, after.id)).toBe(true);
    await clear(store, after);
    expect(await hasSummary(store.db, after.id)).toBe(false);
  });

  test('the whole of a message is kept beside its text, and read only on request', async () => {
    const store = await openFresh(engine);
    const agent = await addRoot(store);
    const count = storeLimits.bodiesPerQuery + 2;
    const ids = await store.write(async (tx) => {
      const added: number[] = [];
      for (const number of Array.from({ length: count }).keys()) {
        const body = number % 2 === 0 ? `{"number":${number}}` : undefined;
        added.push(await appendMessage(tx, { agentId: agent.id, kind: 'assistant', content: 'x', body }));
      }
      return added;
    });
    const bodies = await messageBodies(store.db, ids);
    expect(bodies.size).toBe(Math.ceil(count / 2));
    expect([bodies.get(ids[0] ?? 0), bodies.get(ids[1] ?? 0)]).toEqual(['{"number":0}', undefined]);
    expect(bodies.get(ids.at(-2) ?? 0)).toBe(`{"number":${count - 2}}`);
    expect(await messageBodies(store.db, [])).toEqual(new Map());
  });

  test('messages are found by kind, run and session, and have rising ids', async () => {
    const store = await openFresh(engine);
    const { agent, run, session } = await addTeam(store);
    const from = { agentId: agent.id, runId: run.id, sessionId: session.id, content: '' };
    const ids = await store.write(async (tx) => [
      await appendMessage(tx, { agentId: agent.id, kind: 'mark', content: 'here', data: { label: 'x' } }),
      await appendMessage(tx, { ...from, kind: 'tool_call', data: { name: 'bash', callId: '1' } }),
      await appendMessage(tx, { ...from, kind: 'tool_result', data: { callId: '1' } }),
      await appendMessage(tx, { ...from, kind: 'user' }),
    ]);
    expect(ids).toEqual(ids.toSorted((one, other) => one - other));
    expect(await lastMessageId(store.db, agent.id)).toBe(ids[3]);
    expect(await lastMessageId(store.db, agent.id, ids[2])).toBe(ids[1]);
    expect(await lastMessageId(store.db, agent.id, ids[0])).toBe(0);
    const [mark] = await replay(store.db, agent.id, { limit: 1 });
    expect(mark).toEqual({
      id: ids[0],
      agentId: agent.id,
      runId: null,
      sessionId: null,
      kind: 'mark',
      content: 'here',
      data: { label: 'x' },
      createdAt: fixedTime,
    });
    const last = await lastSessionMessages(store.db, agent.id, session.id, 2);
    expect(last.map(({ id }) => id)).toEqual([ids[2], ids[3]]);
    expect(await hasSpokenSince(store.db, agent.id, ids[2] ?? 0)).toBe(true);
    expect(await hasSpokenSince(store.db, agent.id, ids[3] ?? 0)).toBe(false);
    expect(await countSessionMessages(store.db, agent.id, session.id)).toBe(3);
    expect(await hasAnswer(store.db, agent.id, session.id)).toBe(true);
    expect(await hasAnswer(store.db, agent.id, 'another')).toBe(false);
    const tools = await toolMessages(store.db, agent.id, session.id);
    expect(tools.map(({ id, data }) => ({ id, call: data?.['callId'] }))).toEqual([
      { id: ids[1], call: '1' },
      { id: ids[2], call: '1' },
    ]);
  });
}
