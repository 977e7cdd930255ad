import { newId } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import type { Question } from '@pawl/schema/mail';
import { insertQuestion, questionById } from '@pawl/store/mail/questions';
import { endRun, insertRun, runById, setWait } from '@pawl/store/sessions/runs';
import { sessionById } from '@pawl/store/sessions/sessions';
import { clampTimes, shiftTimes } from '@pawl/store/time-jump';
import { expect, test } from 'vitest';
import { addTeam, fixedTime, runRecord } from '../fixture.ts';
import { openFresh } from './engines.ts';
import type { EngineUnderTest } from './engines.ts';

const twoHoursMs = 2 * 60 * 60_000;

/** A waiting run, and an open question. */
async function waits(engine: EngineUnderTest) {
  const store = await openFresh(engine);
  const { agent, run, session } = await addTeam(store);
  const question: Question = {
    id: newId(),
    projectId: agent.projectId,
    fromId: agent.id,
    toId: agent.id,
    kind: 'question',
    question: 'Which port?',
    mailId: newId(),
    taskId: null,
    phase: null,
    askedAt: fixedTime,
    deadlineAt: fixedTime + 60_000,
    listenedUntil: fixedTime + limits.listenMs,
    endedAt: null,
    end: null,
    answer: null,
    toldAt: null,
    answerMailId: null,
  };
  await store.write(async (tx) => {
    await setWait(tx, run.id, { until: tx.now + 4_000, for: 'retry', detail: '' });
    await insertQuestion(tx, question);
  });
  return { store, agent, run, session, question };
}

/** The contract of stored times when the system clock is set, on every engine. */
export function timeJumpContract(engine: EngineUnderTest): void {
  test.each([-twoHoursMs, twoHoursMs])('waits move by %i ms with the clock; history stays', async (byMs) => {
    const { store, agent, run, session, question } = await waits(engine);
    const over = runRecord(agent, { startedAt: fixedTime - 1 });
    await store.write(async (tx) => {
      await insertRun(tx, over);
      await endRun(tx, over.id, { outcome: 'completed', detail: null, questions: null });
      await shiftTimes(tx, byMs);
    });
    expect(await runById(store.db, run.id)).toMatchObject({
      waitUntil: fixedTime + 4_000 + byMs,
      startedAt: fixedTime,
    });
    expect(await runById(store.db, over.id)).toMatchObject({ startedAt: fixedTime - 1, endedAt: fixedTime });
    expect(await sessionById(store.db, session.id)).toMatchObject({ plannedAt: fixedTime + byMs });
    expect(await questionById(store.db, question.id)).toMatchObject({
      askedAt: fixedTime + byMs,
      deadlineAt: fixedTime + 60_000 + byMs,
      listenedUntil: fixedTime + limits.listenMs + byMs,
    });
  });

  test('no time falls below zero', async () => {
    const { store, question } = await waits(engine);
    await store.write((tx) => shiftTimes(tx, -fixedTime - 30_000));
    expect(await questionById(store.db, question.id)).toMatchObject({ askedAt: 0, deadlineAt: 30_000 });
  });

  test('a wait longer than possible is shortened; others are unchanged', async () => {
    const { store, run, question } = await waits(engine);
    const before = await questionById(store.db, question.id);
    await store.write(clampTimes);
    expect(await questionById(store.db, question.id)).toEqual(before);
    expect((await runById(store.db, run.id))?.waitUntil).toBe(fixedTime + 4_000);
    await store.write(async (tx) => {
      await shiftTimes(tx, twoHoursMs);
      await clampTimes(tx);
    });
    expect(await questionById(store.db, question.id)).toMatchObject({
      askedAt: fixedTime,
      deadlineAt: fixedTime + 60_000,
      listenedUntil: fixedTime + limits.listenMs,
    });
    const longestMs = limits.retryMs * 2 ** limits.faultRetries;
    expect((await runById(store.db, run.id))?.waitUntil).toBe(fixedTime + longestMs);
  });
}
