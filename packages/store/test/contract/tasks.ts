import { newId } from '@pawl/schema/id';
import type { Task } from '@pawl/schema/record';
import { noInitiative } from '@pawl/schema/record';
import { insertAgent } from '@pawl/store/agents/agents';
import { listErrands } from '@pawl/store/agents/errands';
import { insertProject } from '@pawl/store/projects/projects';
import type { Store } from '@pawl/store/store';
import {
  agentsOfTask,
  findTasks,
  insertTask,
  listTasks,
  openTasks,
  takeTask,
  takenTasks,
  taskById,
  tasksByIds,
  tasksTakenBy,
  updateTask,
} from '@pawl/store/projects/tasks';
import { expect, test } from 'vitest';
import { addTeam, agentRecord, fixedTime, projectRecord, range } from '../fixture.ts';
import { openFresh } from './engines.ts';
import type { EngineUnderTest } from './engines.ts';

export function taskRecord(projectId: string, fields: Partial<Task> = {}): Task {
  return {
    id: newId(),
    projectId,
    phase: '',
    name: 'write the parser',
    description: '',
    dependsOn: [],
    createdBy: null,
    createdAt: fixedTime,
    summary: null,
    completedAt: null,
    finishedAt: null,
    blockedReason: null,
    crashes: 0,
    agentId: null,
    ...noInitiative,
    definition: 'coder',
    ...fields,
  };
}

async function addTasks(store: Store, ...tasks: Task[]): Promise<void> {
  await store.write(async (tx) => {
    for (const task of tasks) await insertTask(tx, task);
  });
}

/** The contract of planned tasks, on every engine. */
export function tasksContract(engine: EngineUnderTest): void {
  test('a task round-trips with any text, and its facts change one by one [W3-06]', async () => {
    const store = await openFresh(engine);
    const { project, agent } = await addTeam(store);
    const hostile = 'a\0b \ud800 \u202e \u001b]52;c;eA==\u0007 😀 \r\n';
    const task = taskRecord(project.id, { name: hostile, description: hostile, phase: hostile, dependsOn: [newId()] });
    await addTasks(store, task);
    expect(await taskById(store.db, task.id)).toEqual(task);
    expect(await findTasks(store.db, hostile)).toEqual([task]);
    const patch = { summary: hostile, completedAt: 5, blockedReason: null, crashes: 2, agentId: agent.id };
    await store.write((tx) => updateTask(tx, task.id, patch));
    expect(await taskById(store.db, task.id)).toEqual({ ...task, ...patch });
    await store.write((tx) => updateTask(tx, task.id, {}));
    await expect(store.write((tx) => updateTask(tx, newId(), { crashes: 1 }))).rejects.toMatchObject({
      code: 'not_found',
    });
    await expect(addTasks(store, taskRecord(newId()))).rejects.toMatchObject({ code: 'conflict' });
  });

  test('tasks are listed in the order added, by project, phase and state', async () => {
    const store = await openFresh(engine);
    const { project } = await addTeam(store);
    const another = projectRecord();
    await store.write((tx) => insertProject(tx, another));
    const tasks = range(1, 5).map((number) =>
      taskRecord(project.id, { name: `task ${number}`, phase: `${number % 2}` }),
    );
    const foreign = taskRecord(another.id);
    await addTasks(store, ...tasks, foreign);
    await store.write((tx) => updateTask(tx, tasks[0]?.id ?? '', { completedAt: 9 }));
    const names = (some: Task[]) => some.map(({ name }) => name);
    expect(names(await openTasks(store.db, project.id))).toEqual(['task 2', 'task 3', 'task 4', 'task 5']);
    expect(names(await listTasks(store.db, { projectId: project.id, phase: '1' }))).toEqual(['task 3', 'task 5']);
    expect(await listTasks(store.db, { includeCompleted: true })).toHaveLength(6);
    expect(names(await tasksByIds(store.db, [tasks[4]?.id ?? '', tasks[1]?.id ?? '', newId()]))).toEqual([
      'task 2',
      'task 5',
    ]);
  });

  test('a task is found by id, id prefix, or exact name: the open one first', async () => {
    const store = await openFresh(engine);
    const { project } = await addTeam(store);
    const another = projectRecord();
    await store.write((tx) => insertProject(tx, another));
    const done = taskRecord(project.id, { completedAt: 1 });
    const open = taskRecord(project.id);
    const elsewhere = taskRecord(another.id);
    await addTasks(store, done, open, elsewhere);
    const ids = async (reference: string, projectId?: string) =>
      (await findTasks(store.db, reference, projectId)).map(({ id }) => id);
    expect(await ids(done.id)).toEqual([done.id]);
    expect(await ids(open.id.slice(0, 8))).toEqual([open.id]);
    expect(await ids('write the parser')).toEqual([open.id, elsewhere.id]);
    expect(await ids('write the parser', project.id)).toEqual([open.id]);
    await store.write((tx) => updateTask(tx, open.id, { completedAt: 2 }));
    expect(await ids('write the parser', project.id)).toEqual([done.id, open.id]);
    expect(await ids(open.id, another.id)).toEqual([]);
    expect(await ids('%')).toEqual([]);
    expect(await ids(open.id.slice(0, 3))).toEqual([]);
  });

  test('one of eight claims for a task succeeds', async () => {
    const store = await openFresh(engine);
    const { project } = await addTeam(store);
    const task = taskRecord(project.id);
    await addTasks(store, task);
    const agents = range(1, 8).map(() => newId());
    const won = await Promise.all(agents.map((agentId) => store.write((tx) => takeTask(tx, task.id, agentId))));
    expect(won.filter(Boolean)).toHaveLength(1);
    const winner = agents[won.indexOf(true)] ?? '';
    expect(await takenTasks(store.db)).toEqual([{ ...task, agentId: winner }]);
    expect(await tasksTakenBy(store.db, agents)).toHaveLength(1);
    expect(await tasksTakenBy(store.db, [newId()])).toEqual([]);
    for (const patch of [
      { agentId: null, completedAt: 1 },
      { agentId: null, completedAt: null, blockedReason: 'x' },
    ]) {
      await store.write((tx) => updateTask(tx, task.id, patch));
      expect(await store.write((tx) => takeTask(tx, task.id, newId()))).toBe(false);
    }
  });

  test('the agents of a task stay known; errands are listed', async () => {
    const store = await openFresh(engine);
    const { project } = await addTeam(store);
    const task = taskRecord(project.id);
    const first = agentRecord({ projectId: project.id, taskId: task.id, endedAt: 1 });
    const second = agentRecord({ projectId: project.id, taskId: task.id });
    const errands = [true, false].map((dead) =>
      agentRecord({ projectId: project.id, mode: 'errand', endedAt: dead ? 1 : null }),
    );
    await store.write(async (tx) => {
      await insertTask(tx, task);
      for (const agent of [first, second, ...errands]) await insertAgent(tx, agent);
    });
    expect(await agentsOfTask(store.db, task.id)).toEqual([first, second]);
    const listed = async (includeEnded: boolean) =>
      (await listErrands(store.db, { includeEnded })).map(({ agent }) => agent.id);
    expect(await listed(true)).toEqual(errands.map(({ id }) => id).toReversed());
    expect(await listed(false)).toEqual([errands[1]?.id]);
  });
}
