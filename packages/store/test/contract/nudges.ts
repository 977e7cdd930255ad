import { newId } from '@pawl/schema/id';
import type { NudgeState } from '@pawl/schema/mail';
import { insertAgent, updateAgent } from '@pawl/store/agents/agents';
import { lastRunSeq, nudgeStates, projectEvents, saveNudge } from '@pawl/store/agents/nudges';
import { expect, test } from 'vitest';
import { addTeam, agentRecord, fixedTime } from '../fixture.ts';
import { openFresh } from './engines.ts';
import type { EngineUnderTest } from './engines.ts';

function nudgeState(agentId: string, fields: Partial<NudgeState> = {}): NudgeState {
  return { agentId, nudgedAt: null, mailId: null, backoffMs: 0, seenSeq: 0, skipReason: null, ...fields };
}

/** The contract of nudge states, on every engine. */
export function nudgesContract(engine: EngineUnderTest): void {
  test('the last state of each living agent counts, and dead agents are left out [7.21]', async () => {
    const store = await openFresh(engine);
    const { agent } = await addTeam(store);
    const other = agentRecord({ projectId: agent.projectId, parentId: agent.id });
    await store.write(async (tx) => {
      await insertAgent(tx, other);
      await saveNudge(tx, nudgeState(agent.id, { skipReason: 'mid-turn' }));
      await saveNudge(tx, nudgeState(other.id, { skipReason: 'unchanged' }));
    });
    const nudged = nudgeState(agent.id, { nudgedAt: fixedTime, mailId: newId(), backoffMs: 240_000, seenSeq: 7 });
    await store.write((tx) => saveNudge(tx, nudged));
    const states = await nudgeStates(store.db);
    expect(states.get(agent.id)).toEqual(nudged);
    expect(states.get(other.id)).toEqual(nudgeState(other.id, { skipReason: 'unchanged' }));
    await store.write((tx) => updateAgent(tx, other.id, { endedAt: fixedTime }));
    expect([...(await nudgeStates(store.db)).keys()]).toEqual([agent.id]);
  });

  test('the events of a project come after a number, in order, by type, with the class of their agent', async () => {
    const store = await openFresh(engine);
    const { project, agent } = await addTeam(store);
    const about = { projectId: project.id, agentId: agent.id };
    await store.write(async (tx) => {
      tx.emit({ type: 'run.ended', ...about, data: { status: 'completed', detail: null } });
      tx.emit({ type: 'agent.unstuck', ...about, data: {} });
      tx.emit({
        type: 'task.added',
        projectId: project.id,
        data: { taskId: newId(), name: 'x', phase: '' },
      });
      tx.emit({ type: 'run.ended', projectId: newId(), data: { status: 'completed', detail: null } });
    });
    const filter = { projectId: project.id, afterSeq: 0, types: ['run.ended', 'task.added'] as const, limit: 10 };
    const events = await projectEvents(store.db, filter);
    expect(events.map((event) => [event.seq, event.type, event.agentId, event.class])).toEqual([
      [1, 'run.ended', agent.id, 'ephemeral'],
      [3, 'task.added', null, null],
    ]);
    expect(events[0]?.data).toEqual({ status: 'completed', detail: null });
    expect(await projectEvents(store.db, { ...filter, afterSeq: 3 })).toEqual([]);
    expect(await projectEvents(store.db, { ...filter, limit: 1 })).toHaveLength(1);
  });

  test('the number of the event that started the latest run', async () => {
    const store = await openFresh(engine);
    const { project, agent } = await addTeam(store);
    expect(await lastRunSeq(store.db, agent.id)).toBe(0);
    const about = { projectId: project.id, agentId: agent.id };
    for (const task of ['one', 'two'])
      await store.write(async (tx) => tx.emit({ type: 'run.started', ...about, data: { task } }));
    await store.write(async (tx) => tx.emit({ type: 'agent.unstuck', ...about, data: {} }));
    expect(await lastRunSeq(store.db, agent.id)).toBe(2);
  });
}
