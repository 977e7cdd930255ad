import { agentView, agentsToReconcile, listAgents } from '@pawl/store/agents/agent-views';
import {
  countAgents,
  findAgents,
  insertAgent,
  takenAliases,
  updateAgent,
  directoriesInUse,
} from '@pawl/store/agents/agents';
import { livingColleagues } from '@pawl/store/agents/colleagues';
import { insertProject } from '@pawl/store/projects/projects';
import { endRun, insertRun } from '@pawl/store/sessions/runs';
import { endSession, insertSession, updateSession, usagesOf } from '@pawl/store/sessions/sessions';
import { storeLimits } from '@pawl/store/store-limit';
import type { Store } from '@pawl/store/store';
import type { Agent } from '@pawl/schema/record';
import { expect, test } from 'vitest';
import { addTeam, agentRecord, fixedTime, projectRecord, range, runRecord, sessionRecord } from '../fixture.ts';
import { openFresh } from './engines.ts';
import type { EngineUnderTest } from './engines.ts';

/** The contract of the agent registry, on every engine. */
export function agentsContract(engine: EngineUnderTest): void {
  test('an alias is unique among living agents of a project, and free again after that', async () => {
    const store = await openFresh(engine);
    const { project } = await addTeam(store);
    const other = projectRecord();
    await store.write((tx) => insertProject(tx, other));
    const first = agentRecord({ projectId: project.id, alias: 'brave-otter' });
    const add = (agent: Agent) => store.write((tx) => insertAgent(tx, agent));
    await add(first);
    await expect(add(agentRecord({ projectId: project.id, alias: 'brave-otter' }))).rejects.toMatchObject({
      code: 'conflict',
    });
    await add(agentRecord({ projectId: other.id, alias: 'brave-otter' }));
    await add(agentRecord({ projectId: null, alias: 'brave-otter' }));
    await expect(add(agentRecord({ projectId: null, alias: 'brave-otter' }))).rejects.toMatchObject({
      code: 'conflict',
    });
    await store.write((tx) => updateAgent(tx, first.id, { endedAt: fixedTime, endReason: 'done' }));
    expect(await takenAliases(store.db, project.id)).not.toContain('brave-otter');
    await add(agentRecord({ projectId: project.id, alias: 'brave-otter' }));
    expect(await takenAliases(store.db, project.id)).toContain('brave-otter');
  });

  test('a reference is an id, an alias, or an id prefix', async () => {
    const store = await openFresh(engine);
    const { project } = await addTeam(store);
    const ids = [
      'Aaaa-111111111111111aa',
      'Aaaa_222222222222222aa',
      'aaaa3333333333333333aa',
      'AaaaZ44444444444444_aa',
    ];
    const agents = ids.map((id, index) => agentRecord({ id, projectId: project.id, alias: `agent-${index}` }));
    const ended = agentRecord({ projectId: project.id, alias: 'agent-0', endedAt: 1 });
    await addAgents(store, [ended, ...agents]);
    const found = async (reference: string, options = {}) =>
      (await findAgents(store.db, reference, options)).map((agent) => agent.id);
    expect(await found('aaaa3333333333333333aa')).toEqual([ids[2]]);
    expect(await found('agent-0')).toEqual([ids[0]]);
    expect(await found('Aaaa')).toEqual([ids[0], ids[3], ids[1]]);
    expect(await found('Aaaa_')).toEqual([ids[1]]);
    expect(await found('AaaaZ44444444444444_aa')).toEqual([ids[3]]);
    expect(await found('Aaa')).toEqual([]);
    expect(await found('%%%%')).toEqual([]);
    expect(await found('____')).toEqual([]);
    expect(await found(`'; drop table agents; --`)).toEqual([]);
    expect(await found('agent-0', { projectId: 'another' })).toEqual([]);
    await store.write((tx) => updateAgent(tx, ids[0] ?? '', { endedAt: 2 }));
    expect(await found('agent-0')).toEqual([ids[0], ended.id]);
  });

  test('a reference with too many matches gives the first few', async () => {
    const store = await openFresh(engine);
    await addAgents(
      store,
      range(10, 30).map((number) => agentRecord({ id: `same${number}0000000000000000` })),
    );
    expect(await findAgents(store.db, 'same')).toHaveLength(storeLimits.matches);
  });

  test('the list has the newest first, in pages, with the latest run and session', async () => {
    const store = await openFresh(engine);
    const { project, agent: oldest, run, session } = await addTeam(store);
    const agents = range(1, 6).map((number) => agentRecord({ projectId: number % 2 ? project.id : null }));
    // A clock set back changes nothing.
    await addAgents(
      store,
      agents.map((agent, index) => ({ ...agent, createdAt: fixedTime - index })),
    );
    await store.write((tx) => updateAgent(tx, agents[5]?.id ?? '', { endedAt: 1 }));
    const ids = async (filter: object) =>
      (await listAgents(store.db, { limit: 100, ...filter })).map(({ agent }) => agent.id);
    const newest = agents.map(({ id }) => id).toReversed();
    expect(await ids({ includeEnded: true })).toEqual([...newest, oldest.id]);
    expect(await ids({})).toEqual([...newest.slice(1), oldest.id]);
    expect(await ids({ limit: 2 })).toEqual(newest.slice(1, 3));
    expect(await ids({ limit: 2, before: newest[2] })).toEqual(newest.slice(3, 5));
    expect(await ids({ projectId: project.id, limit: 2 })).toEqual([newest[1], newest[3]]);
    expect((await listAgents(store.db, { limit: 100 })).at(-1)).toEqual({ agent: oldest, run, session });
    expect((await listAgents(store.db, { limit: 1 }))[0]).toMatchObject({ run: null, session: null });
  });

  test('a list cuts long tasks, the view of one agent does not', async () => {
    const store = await openFresh(engine);
    const { agent } = await addTeam(store);
    const task = 'x'.repeat(100_000);
    await store.write((tx) => insertRun(tx, runRecord(agent, { task })));
    expect((await listAgents(store.db, { limit: 1 }))[0]?.run?.task).toBe(
      task.slice(0, storeLimits.listedTaskCharacters),
    );
    expect((await agentView(store.db, agent.id))?.run?.task).toBe(task);
  });

  test('a view follows the latest run and session', async () => {
    const store = await openFresh(engine);
    const { agent, run, session } = await addTeam(store);
    expect(await agentView(store.db, agent.id)).toEqual({ agent, run, session });
    expect(await agentView(store.db, 'nobody')).toBeNull();
    const second = runRecord(agent, { parentRunId: run.id });
    const resumed = sessionRecord(second, { no: 2, purpose: 'missing-signal' });
    await store.write(async (tx) => {
      await endSession(tx, session.id, { exitCode: 0, endReason: 'exited' });
      await insertRun(tx, second);
      await insertSession(tx, resumed);
      await updateAgent(tx, agent.id, { worktreeReadyAt: 9, stopRequestedAt: 10 });
    });
    expect(await agentView(store.db, agent.id)).toEqual({
      agent: { ...agent, worktreeReadyAt: 9, stopRequestedAt: 10 },
      run: second,
      session: resumed,
    });
    await expect(store.write((tx) => updateAgent(tx, 'nobody', { endedAt: 1 }))).rejects.toMatchObject({
      code: 'agent_not_found',
    });
  });

  test('a starting daemon finds every agent with an open run or session, and no other', async () => {
    const store = await openFresh(engine);
    const teams = [await addTeam(store), await addTeam(store), await addTeam(store)] as const;
    await store.write(async (tx) => {
      await endRun(tx, teams[0].run.id, { outcome: 'completed', detail: null, questions: null });
      await endSession(tx, teams[0].session.id, { exitCode: 0, endReason: 'exited' });
      await endRun(tx, teams[1].run.id, { outcome: 'cancelled', detail: null, questions: null });
      await endSession(tx, teams[2].session.id, { exitCode: 1, endReason: 'exited' });
    });
    const ids = (await agentsToReconcile(store.db)).map(({ agent }) => agent.id);
    expect(ids).toEqual([teams[1].agent.id, teams[2].agent.id]);
  });

  test('a starting daemon finds agents that completed and have not ended, even with nothing open [7.3]', async () => {
    const store = await openFresh(engine);
    const { agent, run, session } = await addTeam(store);
    const completion = { at: fixedTime, summary: 'it works', failure: null };
    await store.write(async (tx) => {
      await endRun(tx, run.id, { outcome: 'cancelled', detail: null, questions: null });
      await endSession(tx, session.id, { exitCode: 0, endReason: 'exited' });
      await updateAgent(tx, agent.id, { completion });
    });
    expect((await agentsToReconcile(store.db)).map((each) => each.agent)).toEqual([{ ...agent, completion }]);
    await store.write((tx) => updateAgent(tx, agent.id, { endedAt: fixedTime }));
    expect(await agentsToReconcile(store.db)).toEqual([]);
  });

  test('the living mains of a project come with their last definition [W4-08]', async () => {
    const store = await openFresh(engine);
    const { project, agent, run } = await addTeam(store);
    const other = await addTeam(store);
    const family = { projectId: project.id, parentId: agent.id };
    const idle = agentRecord(family);
    await addAgents(store, [
      idle,
      agentRecord({ ...family, kind: 'subagent' }),
      agentRecord({ ...family, endedAt: fixedTime }),
    ]);
    expect(await livingColleagues(store.db, project.id)).toEqual([
      { agent, definition: run.definition },
      { agent: idle, definition: null },
    ]);
    expect(await livingColleagues(store.db, other.project.id)).toHaveLength(1);
  });

  test('agents are counted without agent 0, and their worktrees and usage are known', async () => {
    const store = await openFresh(engine);
    const { agent, session } = await addTeam(store);
    const usage = { inputTokens: 1, outputTokens: 2, cachedTokens: 0, costUsd: 0.5, turns: 1 };
    await addAgents(store, [
      agentRecord({ parentId: agent.id, worktree: '/w/one' }),
      agentRecord({ parentId: agent.id }),
    ]);
    await store.write((tx) => updateSession(tx, session.id, { usage }));
    expect(await countAgents(store.db)).toBe(2);
    expect(await directoriesInUse(store.db)).toEqual(new Set(['/w/one', '/w']));
    expect(await usagesOf(store.db, [agent.id, 'nobody'])).toEqual(new Map([[agent.id, [usage]]]));
    expect(await usagesOf(store.db, [])).toEqual(new Map());
  });
}

async function addAgents(store: Store, agents: Agent[]): Promise<void> {
  await store.write(async (tx) => {
    for (const agent of agents) await insertAgent(tx, agent);
  });
}
