import { newId } from '@pawl/schema/id';
import type { AgentPlace } from '@pawl/schema/record';
import {
  agentById,
  directoriesInUse,
  insertAgent,
  takenAliases,
  takenWorkdirs,
  updateAgent,
} from '@pawl/store/agents/agents';
import type { AgentFilter } from '@pawl/store/agents/agent-views';
import { listAgents } from '@pawl/store/agents/agent-views';
import { insertPlace, placeOfBranch, placeOfTrash } from '@pawl/store/agents/places';
import { placesOfAgent, placesOfAgents, presentPlaces, updatePlace } from '@pawl/store/agents/places';
import { insertProject } from '@pawl/store/projects/projects';
import { insertRun, runById } from '@pawl/store/sessions/runs';
import type { Store } from '@pawl/store/store';
import { expect, test } from 'vitest';
import { agentRecord, projectRecord, runRecord } from '../fixture.ts';
import { openFresh } from './engines.ts';
import type { EngineUnderTest } from './engines.ts';

/** The contract of worktrees in further projects, and of agents without a project, on every engine. */
export function placesContract(engine: EngineUnderTest): void {
  test('an agent has one worktree in each further project, in order [S3-17]', async () => {
    const store = await openFresh(engine);
    const [second, third] = [await addProject(store), await addProject(store)];
    const agent = await addAgent(store);
    const later = placeRecord(agent.id, third, 2);
    const sooner = placeRecord(agent.id, second, 1);
    await store.write(async (tx) => {
      await insertPlace(tx, later);
      await insertPlace(tx, sooner);
    });
    expect(await placesOfAgent(store.db, agent.id)).toEqual([sooner, later]);
    expect(await placesOfAgents(store.db, [agent.id, newId()])).toEqual(new Map([[agent.id, [sooner, later]]]));
    expect(await placesOfAgents(store.db, [])).toEqual(new Map());
    expect(await placeOfBranch(store.db, second, sooner.branch)).toEqual(sooner);
    expect(await placeOfBranch(store.db, second, 'another')).toBeNull();
    const twice = store.write((tx) => insertPlace(tx, { ...sooner, path: '/elsewhere' }));
    await expect(twice).rejects.toMatchObject({ code: 'conflict' });
  });

  test('each place becomes ready and ends separately; kept ones are found, trashed ones by entry', async () => {
    const store = await openFresh(engine);
    const [second, third] = [await addProject(store), await addProject(store)];
    const agent = await addAgent(store);
    const one = placeRecord(agent.id, second, 1);
    const other = placeRecord(agent.id, third, 2);
    const end = { state: 'trashed', entry: 'x-1', at: 4 } as const;
    await store.write(async (tx) => {
      await insertPlace(tx, one);
      await insertPlace(tx, other);
      await updatePlace(tx, one, { readyAt: 3, end });
      await updatePlace(tx, other, { end: { state: 'retained', reason: 'dirty', at: 5 } });
    });
    expect(await placesOfAgent(store.db, agent.id)).toMatchObject([
      { readyAt: 3, end },
      { readyAt: null, end: { state: 'retained' } },
    ]);
    expect((await presentPlaces(store.db)).map(({ projectId }) => projectId)).toEqual([third]);
    expect((await placeOfTrash(store.db, 'x-1'))?.projectId).toBe(second);
    expect(await placeOfTrash(store.db, 'x')).toBeNull();
  });

  test('the agents of a project include those that have it as a further one, newest first, page by page', async () => {
    const store = await openFresh(engine);
    const [first, second] = [await addProject(store), await addProject(store)];
    const own = await addAgent(store, { projectId: second, alias: 'calm-fox' });
    const guest = await addAgent(store, { projectId: first, alias: 'old-owl', workdir: '/w' });
    const newest = await addAgent(store, { projectId: second, alias: 'shy-elk' });
    const gone = await addAgent(store, { projectId: first, alias: 'late-bee', workdir: '/v', endedAt: 9 });
    await store.write(async (tx) => {
      await insertPlace(tx, placeRecord(guest.id, second, 1));
      await insertPlace(tx, { ...placeRecord(gone.id, second, 1), path: '/v/second' });
    });
    const listed = async (filter: Omit<AgentFilter, 'projectId'>) =>
      (await listAgents(store.db, { ...filter, projectId: second })).map(({ agent }) => agent.alias);
    expect(await listed({ limit: 10 })).toEqual(['shy-elk', 'old-owl', 'calm-fox']);
    expect(await listed({ limit: 2 })).toEqual(['shy-elk', 'old-owl']);
    expect(await listed({ limit: 10, before: newest.id })).toEqual(['old-owl', 'calm-fox']);
    expect(await listed({ limit: 10, before: guest.id })).toEqual(['calm-fox']);
    expect(await listed({ limit: 10, includeEnded: true })).toEqual(['late-bee', 'shy-elk', 'old-owl', 'calm-fox']);
    expect(own.projectId).toBe(second);
  });

  test('an alias is taken in each project of its agent until the worktree there is settled', async () => {
    const store = await openFresh(engine);
    const [first, second] = [await addProject(store), await addProject(store)];
    const agent = await addAgent(store, { projectId: first, alias: 'brave-otter', worktree: '/w/one', workdir: '/w' });
    const place = placeRecord(agent.id, second, 1);
    await store.write((tx) => insertPlace(tx, place));
    expect(await takenAliases(store.db, second)).toEqual(['brave-otter']);
    await store.write(async (tx) => {
      await updateAgent(tx, agent.id, { endedAt: 1, worktreeEnd: { state: 'missing', at: 1 } });
    });
    expect(await takenAliases(store.db, first)).toEqual([]);
    expect(await takenAliases(store.db, second)).toEqual(['brave-otter']);
    await store.write((tx) => updatePlace(tx, place, { end: { state: 'missing', at: 1 } }));
    expect(await takenAliases(store.db, second)).toEqual([]);
  });

  test('an agent without a project has an alias, a directory and runs of its own', async () => {
    const store = await openFresh(engine);
    const agent = await addAgent(store, { alias: 'calm-yak', worktree: '/w/calm-yak/workspace' });
    const run = runRecord(agent);
    await store.write((tx) => insertRun(tx, run));
    expect(run.projectId).toBeNull();
    expect(await runById(store.db, run.id)).toEqual(run);
    expect((await agentById(store.db, agent.id))?.worktree).toBe('/w/calm-yak/workspace');
    expect(await takenAliases(store.db, null)).toEqual(['calm-yak']);
    expect(await takenWorkdirs(store.db)).toEqual(['calm-yak']);
    expect(await directoriesInUse(store.db)).toEqual(new Set(['/w/calm-yak/workspace', '/w/calm-yak']));
    expect(await takenAliases(store.db, await addProject(store))).toEqual([]);
  });
}

async function addProject(store: Store): Promise<string> {
  const project = projectRecord();
  await store.write((tx) => insertProject(tx, project));
  return project.id;
}

async function addAgent(store: Store, fields: Parameters<typeof agentRecord>[0] = {}) {
  const agent = agentRecord(fields);
  await store.write((tx) => insertAgent(tx, agent));
  return agent;
}

function placeRecord(agentId: string, projectId: string, no: number): AgentPlace {
  const path = `/w/${projectId}`;
  return {
    agentId,
    projectId,
    no,
    path,
    branch: 'work/x',
    baseCommit: 'abc',
    snapshot: null,
    readyAt: null,
    end: null,
  };
}
