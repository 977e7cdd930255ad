import type { Agent, Run } from '@pawl/schema/record';
import type { AgentPatch } from '@pawl/store/agents/agents';
import { insertAgent, updateAgent } from '@pawl/store/agents/agents';
import { countFailures, failedPersistentAgents, stuckAgents } from '@pawl/store/agents/health';
import { insertProject } from '@pawl/store/projects/projects';
import { insertRun } from '@pawl/store/sessions/runs';
import type { Store } from '@pawl/store/store';
import { expect, test } from 'vitest';
import { agentRecord, fixedTime, projectRecord, runRecord } from '../fixture.ts';
import { openFresh } from './engines.ts';
import type { EngineUnderTest } from './engines.ts';

async function addAgent(store: Store, fields: Partial<Agent>, patch: AgentPatch, runs: Partial<Run>[]): Promise<Agent> {
  const project = projectRecord();
  const agent = agentRecord({ projectId: project.id, ...fields });
  await store.write(async (tx) => {
    await insertProject(tx, project);
    await insertAgent(tx, agent);
    for (const run of runs) await insertRun(tx, runRecord(agent, run));
    await updateAgent(tx, agent.id, patch);
  });
  return agent;
}

const failed = { outcome: 'failed', endedAt: fixedTime } as const;
const persistent = { class: 'persistent' } as const;

/** The contract of the health queries, on every engine. */
export function healthContract(engine: EngineUnderTest): void {
  test('only living agents are stuck [S4-24]', async () => {
    const store = await openFresh(engine);
    const stuck = await addAgent(store, {}, { stuckAt: 1, stuckReason: 'x' }, []);
    await addAgent(store, {}, { stuckAt: 1, stuckReason: 'x', endedAt: 2 }, []);
    expect(await stuckAgents(store.db)).toEqual([stuck.id]);
  });

  test('finds persistent agents whose latest run failed, unless stopped or dead [W4-06]', async () => {
    const store = await openFresh(engine);
    const crashed = await addAgent(store, persistent, {}, [failed]);
    await addAgent(store, {}, {}, [failed]);
    await addAgent(store, persistent, { stopRequestedAt: 1 }, [failed]);
    await addAgent(store, persistent, { endedAt: 1 }, [failed]);
    await addAgent(store, persistent, {}, [failed, { outcome: 'completed', endedAt: fixedTime }]);
    await addAgent(store, persistent, {}, [failed, {}]);
    expect(await failedPersistentAgents(store.db)).toEqual([crashed.id]);
  });

  test('failures are counted since a time [W4-06]', async () => {
    const store = await openFresh(engine);
    const agent = await addAgent(store, persistent, {}, [
      { ...failed, endedAt: fixedTime - 100 },
      failed,
      { outcome: 'completed', endedAt: fixedTime },
      { ...failed, endedAt: fixedTime + 1 },
      {},
    ]);
    await addAgent(store, persistent, {}, [failed]);
    expect(await countFailures(store.db, agent.id, fixedTime - 1)).toBe(2);
    expect(await countFailures(store.db, agent.id, fixedTime)).toBe(1);
    expect(await countFailures(store.db, agent.id, 0)).toBe(3);
  });
}
