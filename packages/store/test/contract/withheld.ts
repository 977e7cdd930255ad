import type { WithheldWork } from '@pawl/schema/change';
import { insertAgent } from '@pawl/store/agents/agents';
import { insertProject } from '@pawl/store/projects/projects';
import { beginQueue, queueOf, updateQueue } from '@pawl/store/changes/queues';
import { recordWithheldWork, withheldInProject, withheldOfAgent } from '@pawl/store/changes/withheld';
import { expect, test } from 'vitest';
import { agentRecord, projectRecord } from '../fixture.ts';
import { openFresh } from './engines.ts';
import type { EngineUnderTest } from './engines.ts';

/** The contract of the facts behind the inbox, on every engine. */
export function withheldContract(engine: EngineUnderTest): void {
  test('commits that were not proposed are recorded once per head, replacing earlier ones', async () => {
    const store = await openFresh(engine);
    const project = projectRecord();
    const agent = agentRecord({ projectId: project.id });
    await store.write(async (tx) => {
      await insertProject(tx, project);
      await insertAgent(tx, agent);
    });
    const work = {
      agentId: agent.id,
      projectId: project.id,
      branch: 'work/a',
      head: 'one',
      definition: 'reader',
      at: 1,
    };
    const record = (more: Partial<WithheldWork>) => store.write((tx) => recordWithheldWork(tx, { ...work, ...more }));
    expect(await record({})).toBe(true);
    expect(await record({ at: 2 })).toBe(false);
    expect(await withheldOfAgent(store.db, agent.id)).toEqual([work]);
    expect(await record({ head: 'two', at: 3 })).toBe(true);
    expect(await withheldInProject(store.db, project.id)).toEqual([{ ...work, head: 'two', at: 3 }]);
  });

  test('a queue keeps since when its branch has diverged', async () => {
    const store = await openFresh(engine);
    const project = projectRecord();
    await store.write(async (tx) => {
      await insertProject(tx, project);
      await beginQueue(tx, project.id, 'main');
    });
    expect((await queueOf(store.db, project.id))?.divergedAt).toBeNull();
    await store.write((tx) => updateQueue(tx, project.id, { divergedAt: 7 }));
    expect((await queueOf(store.db, project.id))?.divergedAt).toBe(7);
  });
}
