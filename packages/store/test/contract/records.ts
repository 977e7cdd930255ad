import * as fc from 'fast-check';
import { agentById, insertAgent } from '@pawl/store/agents/agents';
import { replay } from '@pawl/store/sessions/history';
import { draftFor, saveDraft } from '@pawl/store/agents/drafts';
import { appendMessage } from '@pawl/store/sessions/messages';
import { insertProject, listProjects, projectByName, projectByRoot } from '@pawl/store/projects/projects';
import { defaultProjectSettings, projectSettings, updateProjectSettings } from '@pawl/store/projects/project-settings';
import { endRun, insertRun, runById, runsOf } from '@pawl/store/sessions/runs';
import {
  endSession,
  insertSession,
  openSessions,
  sessionById,
  sessionsOf,
  updateSession,
} from '@pawl/store/sessions/sessions';
import { expect, test } from 'vitest';
import {
  addTeam,
  agentRecord,
  fixedTime,
  projectRecord,
  range,
  runRecord,
  sessionRecord,
  hostileText,
} from '../fixture.ts';
import { openFresh } from './engines.ts';
import type { EngineUnderTest } from './engines.ts';

/** The contract of records, on every engine. */
export function recordsContract(engine: EngineUnderTest): void {
  test('projects are found by root and name, and both are unique', async () => {
    const store = await openFresh(engine);
    const project = projectRecord({ name: 'zebra', root: '/srv/üñí code/zebra' });
    const other = projectRecord({ name: 'apple' });
    await store.write(async (tx) => {
      await insertProject(tx, project);
      await insertProject(tx, other);
    });
    expect(await projectByRoot(store.db, project.root)).toEqual(project);
    expect(await projectByName(store.db, 'zebra')).toEqual(project);
    expect(await projectByName(store.db, 'nobody')).toBeNull();
    expect(await listProjects(store.db)).toEqual([other, project]);
    const conflict = { code: 'conflict' };
    const same = (fields: object) => store.write((tx) => insertProject(tx, projectRecord(fields)));
    await expect(same({ name: 'zebra' })).rejects.toMatchObject(conflict);
    await expect(same({ root: project.root })).rejects.toMatchObject(conflict);
  });

  test('settings of a project start with defaults and change one by one', async () => {
    const store = await openFresh(engine);
    const project = projectRecord();
    await store.write((tx) => insertProject(tx, project));
    expect(await projectSettings(store.db, project.id)).toEqual(defaultProjectSettings);
    await store.write((tx) => updateProjectSettings(tx, project.id, { provider: 'claude' }));
    await store.write((tx) => updateProjectSettings(tx, project.id, { pushAllowedAt: 5, untrackedAt: 6 }));
    await store.write((tx) => updateProjectSettings(tx, project.id, { untrackedAt: null }));
    expect(await projectSettings(store.db, project.id)).toEqual({
      ...defaultProjectSettings,
      provider: 'claude',
      pushAllowedAt: 5,
    });
    const nobody = store.write((tx) => updateProjectSettings(tx, 'no such project', { provider: 'claude' }));
    await expect(nobody).rejects.toMatchObject({ code: 'conflict' });
  });

  test('hostile text round-trips in every field', async () => {
    const store = await openFresh(engine);
    const { project } = await addTeam(store);
    const agent = agentRecord({
      projectId: project.id,
      model: hostileText,
      options: { [hostileText]: hostileText },
      forkedConversation: hostileText,
      worktreeEnd: { state: 'retained', reason: hostileText, at: 5 },
    });
    const run = runRecord(agent, { task: hostileText });
    const session = sessionRecord(run, {
      processStart: hostileText,
      result: { ok: false, text: hostileText, fault: null },
    });
    const questions = [{ id: 'q1', question: hostileText }];
    const message = {
      agentId: agent.id,
      kind: 'user',
      content: hostileText,
      data: { [hostileText]: [hostileText] },
    } as const;
    const draft = { input: hostileText, scroll: 7 };
    await store.write(async (tx) => {
      await insertAgent(tx, agent);
      await insertRun(tx, run);
      await insertSession(tx, session);
      await endRun(tx, run.id, { outcome: 'failed', detail: hostileText, questions });
      await appendMessage(tx, { ...message, runId: run.id, sessionId: session.id });
      await saveDraft(tx, agent.id, draft);
    });
    expect(await agentById(store.db, agent.id)).toEqual(agent);
    const ended = { ...run, outcome: 'failed', detail: hostileText, questions, endedAt: fixedTime };
    expect(await runById(store.db, run.id)).toEqual(ended);
    expect(await sessionById(store.db, session.id)).toEqual(session);
    expect(await replay(store.db, agent.id, { limit: 9 })).toEqual([
      { ...message, id: 1, runId: run.id, sessionId: session.id, createdAt: fixedTime },
    ]);
    expect(await draftFor(store.db, agent.id)).toEqual(draft);
  });

  test('any string and a megabyte of it survive', async () => {
    const store = await openFresh(engine);
    const { agent } = await addTeam(store);
    const texts = fc.sample(fc.string({ unit: 'binary', maxLength: 60 }), 20);
    const units = fc
      .sample(fc.array(fc.nat(0xffff), { maxLength: 30 }), 20)
      .map((codes) => String.fromCharCode(...codes));
    const all = [...texts, ...units, `${'x'.repeat(1024 * 1024)}\0`];
    await store.write(async (tx) => {
      for (const content of all) await appendMessage(tx, { agentId: agent.id, kind: 'assistant', content });
    });
    expect((await replay(store.db, agent.id, { limit: 100 })).map((message) => message.content)).toEqual(all);
  });

  test.each(['completed', 'failed', 'cancelled'] as const)(
    'each run has its own record, with its inputs and its end: %s [S2-18]',
    async (outcome) => {
      const store = await openFresh(engine);
      const { agent, run: outer } = await addTeam(store);
      const fields = {
        parentRunId: outer.id,
        agentKind: 'subagent',
        repoPath: '/srv/shop',
        sessionId: 'thread-7',
      } as const;
      const [first, second] = [runRecord(agent, { ...fields, startedAt: 5 }), runRecord(agent, { startedAt: 6 })];
      await store.write(async (tx) => {
        await insertRun(tx, first);
        await insertRun(tx, second);
        await endRun(tx, first.id, { outcome, detail: 'because', questions: null });
      });
      const ended = { ...first, outcome, detail: 'because', endedAt: fixedTime };
      expect(await runById(store.db, first.id)).toEqual(ended);
      expect(await runsOf(store.db, agent.id)).toEqual([outer, ended, second]);
    },
  );

  test('a run and a session end once: of many that try, one wins', async () => {
    const store = await openFresh(engine);
    const { run, session, agent } = await addTeam(store);
    const runEnds = range(1, 8).map((number) =>
      store.write((tx) => endRun(tx, run.id, { outcome: 'completed', detail: `${number}`, questions: null })),
    );
    expect(await Promise.all(runEnds)).toEqual([true, ...range(2, 8).map(() => false)]);
    expect(await runsOf(store.db, agent.id)).toEqual([
      { ...run, outcome: 'completed', detail: '1', endedAt: fixedTime },
    ]);
    const sessionEnds = range(1, 3).map((code) =>
      store.write((tx) => endSession(tx, session.id, { exitCode: code, endReason: 'exited' })),
    );
    expect(await Promise.all(sessionEnds)).toEqual([true, false, false]);
    expect(await sessionById(store.db, session.id)).toMatchObject({ exitCode: 1, endedAt: fixedTime });
  });

  test('an agent has at most one open session, and each number once [S3-72, 5.2.8]', async () => {
    const store = await openFresh(engine);
    const { run, session, agent } = await addTeam(store);
    const add = (fields: object) => store.write((tx) => insertSession(tx, sessionRecord(run, fields)));
    await expect(add({ no: 2 })).rejects.toMatchObject({ code: 'conflict' });
    await store.write((tx) => endSession(tx, session.id, { exitCode: null, endReason: 'lost' }));
    await expect(add({ no: 1 })).rejects.toMatchObject({ code: 'conflict' });
    await add({ no: 2 });
    expect((await sessionsOf(store.db, agent.id)).map(({ no }) => no)).toEqual([1, 2]);
    expect((await openSessions(store.db)).map(({ no }) => no)).toEqual([2]);
  });

  test('facts of a session change one by one', async () => {
    const store = await openFresh(engine);
    const { session } = await addTeam(store);
    const usage = { inputTokens: 1, outputTokens: 2, cachedTokens: 3, costUsd: 0.125, turns: 4 };
    await store.write(async (tx) => {
      await updateSession(tx, session.id, { pid: 42, processStart: 'boot/1', startedAt: 5 });
      await updateSession(tx, session.id, { usage, limitUntil: 0 });
      await updateSession(tx, session.id, {});
    });
    const expected = { ...session, pid: 42, processStart: 'boot/1', startedAt: 5, usage, limitUntil: 0 };
    expect(await sessionById(store.db, session.id)).toEqual(expected);
    await expect(store.write((tx) => updateSession(tx, 'nobody', { pid: 1 }))).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  test('a dangling reference is refused', async () => {
    const store = await openFresh(engine);
    const { agent } = await addTeam(store);
    const orphan = agentRecord({ projectId: 'no such project' });
    await expect(store.write((tx) => insertAgent(tx, orphan))).rejects.toMatchObject({ code: 'conflict' });
    const run = runRecord(agent, { parentRunId: 'no such run' });
    await expect(store.write((tx) => insertRun(tx, run))).rejects.toMatchObject({ code: 'conflict' });
  });
}
