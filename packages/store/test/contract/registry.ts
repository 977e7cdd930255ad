import { idSchema, newId } from '@pawl/schema/id';
import { agentView, agentsToReconcile, listAgents } from '@pawl/store/agents/agent-views';
import { agentById, findAgents, insertAgent, updateAgent } from '@pawl/store/agents/agents';
import type { AgentPatch } from '@pawl/store/agents/agents';
import { draftFor, saveDraft } from '@pawl/store/agents/drafts';
import { endRun } from '@pawl/store/sessions/runs';
import { countOpenSessions, endSession } from '@pawl/store/sessions/sessions';
import type { Store } from '@pawl/store/store';
import type { Agent } from '@pawl/schema/record';
import { expect, expectTypeOf, test } from 'vitest';
import { addTeam, agentRecord } from '../fixture.ts';
import { addChild, addRoot } from '../lineage.ts';
import { openAgain, openFresh } from './engines.ts';
import type { EngineUnderTest } from './engines.ts';

/** The contract of agents as processes, on every engine. */
export function registryContract(engine: EngineUnderTest): void {
  test('an agent exists because its row does, also for another program [S1-02]', async () => {
    const database = await engine.emptyDatabase();
    const first = await openAgain(database);
    const parent = await addRoot(first);
    const child = await addChild(first, parent);
    await first.close();
    const second = await openAgain(database);
    expect(await agentById(second.db, child.id)).toEqual(child);
    expect(await agentById(second.db, newId())).toBeNull();
  });

  test('an id is a UUID in 22 base64url characters, used once [S1-03]', async () => {
    const store = await openFresh(engine);
    const agent = await addRoot(store);
    expect(idSchema.parse(agent.id)).toHaveLength(22);
    expect(Buffer.from(agent.id, 'base64url')).toHaveLength(16);
    const twin = agentRecord({ id: agent.id });
    await expect(store.write((tx) => insertAgent(tx, twin))).rejects.toMatchObject({ code: 'conflict' });
  });

  test('a row holds identity, parent, fork point and times, and every fact round-trips [S1-11, W1-01]', async () => {
    const store = await openFresh(engine);
    const parent = await addRoot(store);
    const child = await addChild(store, parent, {
      alias: 'brave-otter',
      forkMessageId: 7,
      forkedConversation: 'conversation',
      snapshot: 'abc123',
      freshAfter: 3,
      worktreeEnd: { state: 'trashed', entry: 'brave-otter', at: 5 },
    });
    expect(await agentById(store.db, child.id)).toEqual(child);
    const patch: AgentPatch = {
      supervisorId: null,
      forkedConversation: null,
      freshAfter: 4,
      worktreeEnd: { state: 'missing', at: 6 },
      endedAt: 8,
      endReason: 'killed',
      reapedAt: 9,
    };
    await store.write((tx) => updateAgent(tx, child.id, patch));
    expect(await agentById(store.db, child.id)).toEqual({ ...child, ...patch });
    await store.write((tx) => updateAgent(tx, child.id, { worktreeEnd: null }));
    expect((await agentById(store.db, child.id))?.worktreeEnd).toBeNull();
  });

  test('parent and fork point are set once; no update can name them [3.2.6]', () => {
    expectTypeOf<Extract<keyof AgentPatch, 'id' | 'parentId' | 'forkMessageId'>>().toBeNever();
  });

  test('a prefix finds only living agents for actions, and all for views [W1-09, 3.2.14]', async () => {
    const store = await openFresh(engine);
    const living = ['Same1111111111111111aa', 'Same2222222222222222aa'];
    const dead = 'Same3333333333333333aa';
    await addAgents(
      store,
      [...living, dead].map((id) => agentRecord({ id })),
    );
    await store.write((tx) => updateAgent(tx, dead, { endedAt: 1 }));
    const found = async (reference: string, prefixOf?: 'living' | 'all') =>
      (await findAgents(store.db, reference, prefixOf === undefined ? {} : { prefixOf })).map(({ id }) => id);
    // The caller refuses ambiguous prefixes, so both come back; no match is a different result.
    expect(await found('Same', 'living')).toEqual(living);
    expect(await found('Same', 'all')).toEqual([...living, dead]);
    expect(await found('Same')).toEqual([...living, dead]);
    expect(await found('Same1', 'living')).toEqual([living[0]]);
    expect(await found('Same3', 'living')).toEqual([]);
    expect(await found('Same3', 'all')).toEqual([dead]);
    expect(await found('Other', 'living')).toEqual([]);
    // A full name finds dead agents, too: ending one twice is no error.
    expect(await found(dead, 'living')).toEqual([dead]);
  });

  test('reaped agents are hidden, but stay in the registry [W1-14]', async () => {
    const store = await openFresh(engine);
    const [living, dead, reaped] = [
      agentRecord(),
      agentRecord({ endedAt: 1 }),
      agentRecord({ endedAt: 1, reapedAt: 2 }),
    ];
    await addAgents(store, [living, dead, reaped]);
    const listed = async (filter: object) =>
      (await listAgents(store.db, { limit: 10, ...filter })).map(({ agent }) => agent.id);
    expect(await listed({})).toEqual([living.id]);
    expect(await listed({ includeEnded: true })).toEqual([dead.id, living.id]);
    expect(await listed({ includeEnded: true, includeReaped: true })).toEqual([reaped.id, dead.id, living.id]);
    expect((await agentView(store.db, reaped.id))?.agent).toEqual(reaped);
  });

  test('a starting daemon finds everything unfinished, parents first, and nothing else [S1-18, W1-18]', async () => {
    const store = await openFresh(engine);
    const { agent: busy } = await addTeam(store);
    const done = await addTeam(store);
    await store.write(async (tx) => {
      await endSession(tx, done.session.id, { exitCode: 0, endReason: 'exited' });
      await endRun(tx, done.run.id, { outcome: 'completed', detail: null, questions: null });
    });
    const worktree = '/w/one';
    const end = { state: 'missing', at: 1 } as const;
    const toMake = agentRecord({ parentId: busy.id, worktree });
    const toCleanUp = agentRecord({ parentId: toMake.id, worktree, worktreeReadyAt: 1, endedAt: 2 });
    const neverMade = agentRecord({ worktree, endedAt: 2 });
    const others = [
      agentRecord(),
      agentRecord({ worktree, worktreeReadyAt: 1 }),
      agentRecord({ endedAt: 2 }),
      agentRecord({ worktree, worktreeReadyAt: 1, endedAt: 2, worktreeEnd: end }),
    ];
    await addAgents(store, [...others, toMake, toCleanUp, neverMade]);
    const found = (await agentsToReconcile(store.db)).map(({ agent }) => agent.id);
    expect(found).toEqual([busy.id, toMake.id, toCleanUp.id, neverMade.id]);
    expect(await countOpenSessions(store.db)).toBe(1);
  });

  test('a draft and the scroll position are kept per agent, and survive a restart [S1-12, 3.2.10]', async () => {
    const database = await engine.emptyDatabase();
    const first = await openAgain(database);
    const [agent, other] = [await addRoot(first), await addRoot(first)];
    await first.write((tx) => saveDraft(tx, agent.id, { input: 'half a', scroll: 3 }));
    await first.write((tx) => saveDraft(tx, agent.id, { input: 'half a sentence', scroll: 40 }));
    await first.close();
    const second = await openAgain(database);
    expect(await draftFor(second.db, agent.id)).toEqual({ input: 'half a sentence', scroll: 40 });
    expect(await draftFor(second.db, other.id)).toEqual({ input: '', scroll: 0 });
    const orphan = second.write((tx) => saveDraft(tx, 'nobody', { input: '', scroll: 0 }));
    await expect(orphan).rejects.toMatchObject({ code: 'conflict' });
  });
}

async function addAgents(store: Store, agents: Agent[]): Promise<void> {
  await store.write(async (tx) => {
    for (const agent of agents) await insertAgent(tx, agent);
  });
}
