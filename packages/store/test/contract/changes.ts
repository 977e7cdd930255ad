import type { Change, Check } from '@pawl/schema/change';
import { newId } from '@pawl/schema/id';
import { insertAgent } from '@pawl/store/agents/agents';
import {
  agentOfBranch,
  agentsThatRan,
  changesTakenOver,
  countOpenChanges,
  finishedAuthors,
  lastChangeOf,
  openChangeOfStandIn,
} from '@pawl/store/changes/change-search';
import { changeById, findChanges, insertChange, openChangeOf, updateChange } from '@pawl/store/changes/changes';
import { readCheckEnd } from '@pawl/store/changes/check-output';
import { appendCheckChunk, insertCheck } from '@pawl/store/changes/checks';
import { endRun, insertRun } from '@pawl/store/sessions/runs';
import { expect, test } from 'vitest';
import { addTeam, agentRecord, fixedTime, runRecord } from '../fixture.ts';
import { openFresh } from './engines.ts';
import type { EngineUnderTest } from './engines.ts';

function changeRecord(projectId: string, fields: Partial<Change> = {}): Change {
  return {
    id: newId(),
    projectId,
    agentId: null,
    taskId: null,
    branch: 'work/a',
    head: 'h',
    base: 'b',
    title: 't',
    summary: '',
    openedAt: fixedTime,
    queuedAt: null,
    retriedAt: null,
    isolatedAt: null,
    hold: null,
    findings: [],
    reviews: 0,
    approvedHead: null,
    ejection: null,
    examinedHead: null,
    reviewedHead: null,
    reviewerId: null,
    returns: 0,
    standInId: null,
    authorId: null,
    forgeRef: null,
    askedHead: null,
    passedHead: null,
    mergedAt: null,
    mergedCommit: null,
    closedAt: null,
    closeReason: null,
    ...fields,
  };
}

function checkRecord(projectId: string): Check {
  const steps = [{ name: 'check', run: 'true', timeoutMs: 1, junit: [] }];
  return {
    id: newId(),
    projectId,
    commit: 'c',
    tree: 't',
    plan: 'p',
    steps,
    changes: [],
    onto: 'o',
    plannedAt: 1,
    startedAt: null,
    step: 0,
    stepStartedAt: null,
    pid: null,
    processStart: null,
    outputOffset: 0,
    outputBytes: 0,
    endedAt: null,
    outcome: null,
    exitCode: null,
    detail: null,
    counts: null,
  };
}

/** The contract of changes, on every engine. */
export function changesContract(engine: EngineUnderTest): void {
  test('a change round-trips with any text, and a branch has one open change', async () => {
    const store = await openFresh(engine);
    const { project } = await addTeam(store);
    const hostile = 'a\0b \ud800 \u202e \u001b]52;c;eA==\u0007 😀 \r\n';
    const hold = { reason: hostile, by: 'a person', at: 1 };
    const change = changeRecord(project.id, { title: hostile, summary: hostile, hold });
    await store.write((tx) => insertChange(tx, change));
    expect(await changeById(store.db, change.id)).toEqual(change);
    expect(await findChanges(store.db, change.id.slice(0, 6))).toEqual([change]);
    await expect(store.write((tx) => insertChange(tx, changeRecord(project.id)))).rejects.toThrow();
    await store.write((tx) => updateChange(tx, change.id, { closedAt: fixedTime, closeReason: 'no' }));
    const second = changeRecord(project.id);
    await store.write((tx) => insertChange(tx, second));
    expect(await openChangeOf(store.db, project.id, 'work/a')).toEqual(second);
    expect(await countOpenChanges(store.db, project.id)).toBe(1);
  });

  test('a stand-in is found while the change is open, and taken-over changes after that, too', async () => {
    const store = await openFresh(engine);
    const { project, agent } = await addTeam(store);
    const change = changeRecord(project.id, { standInId: agent.id });
    await store.write(async (tx) => {
      await insertChange(tx, change);
      await insertChange(tx, changeRecord(project.id, { branch: 'work/b' }));
    });
    expect(await openChangeOfStandIn(store.db, project.id, agent.id)).toEqual(change);
    await store.write((tx) => updateChange(tx, change.id, { mergedAt: fixedTime }));
    expect(await openChangeOfStandIn(store.db, project.id, agent.id)).toBeNull();
    expect((await changesTakenOver(store.db, project.id)).map(({ id }) => id)).toEqual([change.id]);
  });

  test("an agent's latest change is its own, or one it stands in for; a person's is that of the branch", async () => {
    const store = await openFresh(engine);
    const { project, agent } = await addTeam(store);
    const closed = { closedAt: fixedTime, closeReason: 'no' };
    const [persons, own, other] = [
      changeRecord(project.id, { agentId: null, ...closed }),
      changeRecord(project.id, { agentId: agent.id, ...closed }),
      changeRecord(project.id, { agentId: null, standInId: agent.id, branch: 'work/b', ...closed }),
    ] as const;
    const last = async (agentId: string | null, branch = 'work/a') =>
      (await lastChangeOf(store.db, project.id, { agentId, branch }))?.id ?? null;
    expect(await last(agent.id)).toBeNull();
    await store.write((tx) => insertChange(tx, persons));
    expect(await last(agent.id)).toBeNull();
    await store.write((tx) => insertChange(tx, own));
    expect([await last(agent.id), await last(null), await last(null, 'work/c')]).toEqual([own.id, persons.id, null]);
    await store.write((tx) => insertChange(tx, other));
    expect(await last(agent.id)).toBe(other.id);
  });

  test('finds agents with finished work on their own branch, and no others', async () => {
    const store = await openFresh(engine);
    const { project } = await addTeam(store);
    const add = async (fields: object, ended: object | null = {}) => {
      const agent = agentRecord({ projectId: project.id, branch: `work/${newId()}`, ...fields });
      const run = runRecord(agent);
      await store.write(async (tx) => {
        await insertAgent(tx, agent);
        await insertRun(tx, run);
        if (ended !== null) await endRun(tx, run.id, { outcome: 'completed', detail: null, questions: null, ...ended });
      });
      return { agent, run };
    };
    const author = await add({});
    const resolver = await add({ mode: 'conflict-resolution', endedAt: fixedTime, endReason: 'completed' });
    const others = [
      await add({ branch: null }),
      await add({ kind: 'subagent' }),
      await add({ class: 'persistent' }),
      await add({ mode: 'errand' }),
      await add({ mode: 'review' }),
      await add({}, null),
      await add({}, { outcome: 'failed' }),
      await add({}, { questions: [{ id: 'a', question: 'b' }] }),
    ];
    const found = await finishedAuthors(store.db, project.id, fixedTime);
    expect(found).toEqual([author, resolver].map(({ agent, run }) => ({ agentId: agent.id, runId: run.id })));
    expect(await finishedAuthors(store.db, project.id, fixedTime + 1)).toEqual([]);
    expect(await agentOfBranch(store.db, project.id, author.agent.branch ?? '')).toEqual(author.agent);
    await store.write((tx) => insertAgent(tx, agentRecord({ projectId: project.id, branch: 'work/never-ran' })));
    const listed = await agentsThatRan(store.db, { projectId: project.id, limit: 100 });
    expect(listed[0]?.agent.id).toBe(others.at(-1)?.agent.id);
    expect(listed).toHaveLength(8);
  });

  test("the end of a check's output is cut to the byte", async () => {
    const store = await openFresh(engine);
    const { project } = await addTeam(store);
    const check = checkRecord(project.id);
    const bytes = (text: string) => Buffer.from(text);
    await store.write(async (tx) => {
      await insertCheck(tx, check);
      await appendCheckChunk(tx, check.id, { step: 0, offset: 0, bytes: bytes('first') });
      await appendCheckChunk(tx, check.id, { step: 0, offset: 5, bytes: bytes('second') });
      await appendCheckChunk(tx, check.id, { step: 1, offset: 0, bytes: bytes('third') });
    });
    const read = async (limit: number) => {
      const { chunks, leftOutBytes } = await readCheckEnd(store.db, check.id, limit);
      return [chunks.map((each) => [each.step, each.offset, Buffer.from(each.bytes).toString()]), leftOutBytes];
    };
    expect(await read(7)).toEqual([
      [
        [0, 9, 'nd'],
        [1, 0, 'third'],
      ],
      9,
    ]);
    expect(await read(5)).toEqual([[[1, 0, 'third']], 11]);
    expect((await read(100))[1]).toBe(0);
    expect(await readCheckEnd(store.db, newId(), 10)).toEqual({ chunks: [], leftOutBytes: 0 });
  });
}
