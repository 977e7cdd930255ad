import { newId } from '@pawl/schema/id';
import { noInitiative } from '@pawl/schema/record';
import { limits } from '@pawl/schema/limit';
import type { Mail, Question } from '@pawl/schema/mail';
import { questionSchema } from '@pawl/schema/mail';
import type { Agent } from '@pawl/schema/record';
import { insertAgent, updateAgent } from '@pawl/store/agents/agents';
import { insertMail } from '@pawl/store/mail/mail';
import {
  agentsInPhase,
  agentsWithQuestions,
  claimForListener,
  endQuestion,
  findQuestions,
  firstUnclaimed,
  insertQuestion,
  mailsOfEndedQuestions,
  mailsOfQuestion,
  nextDue,
  noteTold,
  openQuestions,
  openQuestionsFrom,
  openQuestionsTo,
  questionById,
  untoldEnds,
} from '@pawl/store/mail/questions';
import { endRun } from '@pawl/store/sessions/runs';
import type { Store } from '@pawl/store/store';
import { insertTask } from '@pawl/store/projects/tasks';
import { expect, test } from 'vitest';
import { addTeam, agentRecord, fixedTime } from '../fixture.ts';
import { openFresh } from './engines.ts';
import type { EngineUnderTest } from './engines.ts';

function questionRecord(from: Agent, to: Agent, fields: Partial<Question> = {}): Question {
  return {
    id: newId(),
    projectId: to.projectId,
    fromId: from.id,
    toId: to.id,
    kind: 'question',
    question: 'which port, \u0007 and “why”?',
    mailId: newId(),
    taskId: null,
    phase: null,
    askedAt: fixedTime,
    deadlineAt: fixedTime + 1_000,
    listenedUntil: null,
    endedAt: null,
    end: null,
    answer: null,
    toldAt: null,
    answerMailId: null,
    ...fields,
  };
}

/** A waiting mail that carries a question. */
function mailOf(question: Question, given: Partial<Mail> = {}): Mail {
  return {
    id: newId(),
    projectId: question.projectId,
    fromId: question.fromId,
    toId: question.toId,
    kind: 'question',
    body: 'which?',
    bodyFile: null,
    bodyBytes: 6,
    questionId: question.id,
    createdAt: fixedTime,
    deliveredAt: null,
    readAt: null,
    ackedAt: null,
    channel: null,
    deadAt: null,
    deadReason: null,
    claimSessionId: null,
    attempts: 0,
    ...given,
  };
}

async function add(store: Store, ...questions: Question[]): Promise<void> {
  await store.write(async (tx) => {
    for (const question of questions) await insertQuestion(tx, question);
  });
}

/** A store with two related agents. */
async function pair(engine: EngineUnderTest, options: { clock?: () => number } = {}) {
  const store = await openFresh(engine, options);
  const { agent: from, project, run } = await addTeam(store);
  const to = agentRecord({ projectId: project.id });
  await store.write((tx) => insertAgent(tx, to));
  return { store, from, to, project, run };
}

/** The contract of questions, on every engine. */
export function questionsContract(engine: EngineUnderTest): void {
  test('a question round-trips, by id or id prefix', async () => {
    const { store, from, to } = await pair(engine);
    const question = questionRecord(from, to, { id: 'Same1111111111111111aa', phase: 'one' });
    await add(store, question, questionRecord(from, to, { id: 'Same2222222222222222aa' }));
    expect(await questionById(store.db, question.id)).toEqual(question);
    expect(questionSchema.parse(question)).toEqual(question);
    expect(await questionById(store.db, newId())).toBeNull();
    const found = async (reference: string) => (await findQuestions(store.db, reference)).map(({ id }) => id);
    expect(await found('Same1')).toEqual([question.id]);
    expect(await found('Same')).toHaveLength(2);
    for (const nothing of ['Sam', '', '%', 'Same%']) expect(await found(nothing)).toEqual([]);
  });

  test('open questions are listed by asker and recipient, in order, with the next deadline', async () => {
    const { store, from, to } = await pair(engine);
    expect(await nextDue(store.db, fixedTime)).toBeNull();
    const [first, second] = [questionRecord(from, to), questionRecord(from, to, { deadlineAt: fixedTime + 500 })];
    const back = questionRecord(to, from, { deadlineAt: null });
    await add(store, first, second, back);
    expect(await openQuestionsTo(store.db, to.id)).toEqual([first, second]);
    expect(await openQuestionsFrom(store.db, from.id)).toEqual([first, second]);
    expect(await openQuestionsFrom(store.db, to.id)).toEqual([back]);
    const all = await openQuestions(store.db);
    expect(all).toHaveLength(3);
    expect(await openQuestions(store.db, all[0])).toEqual(all.slice(1));
    expect(await openQuestions(store.db, all[2])).toEqual([]);
    expect(await nextDue(store.db, fixedTime)).toBe(fixedTime + 500);
    await store.write((tx) => endQuestion(tx, second.id, { end: 'expired', text: 'too late' }));
    expect(await openQuestionsTo(store.db, to.id)).toEqual([first]);
    expect(await nextDue(store.db, fixedTime)).toBe(fixedTime + 1_000);
    // A listener's claim is due when it expires; an expired one is due no more.
    await store.write((tx) => claimForListener(tx, back.id, fixedTime + 700));
    expect(await nextDue(store.db, fixedTime)).toBe(fixedTime + 700);
    expect(await nextDue(store.db, fixedTime + 700)).toBe(fixedTime + 1_000);
  });

  test('a question ends once, whoever tries, and its answer is delivered once [4]', async () => {
    const { store, from, to } = await pair(engine);
    const question = questionRecord(from, to);
    await add(store, question);
    expect(await store.write((tx) => noteTold(tx, question.id, newId()))).toBe(false);
    const ends = ['answered', 'expired', 'cancelled', 'not-now'] as const;
    const tries = ends.map((end) => store.write((tx) => endQuestion(tx, question.id, { end, text: `by ${end}` })));
    expect(await Promise.all(tries)).toEqual([true, false, false, false]);
    expect(await questionById(store.db, question.id)).toMatchObject({
      end: 'answered',
      answer: 'by answered',
      endedAt: fixedTime,
    });
    expect(await untoldEnds(store.db)).toHaveLength(1);
    const mailId = newId();
    expect(await store.write((tx) => noteTold(tx, question.id, mailId))).toBe(true);
    expect(await store.write((tx) => noteTold(tx, question.id, newId()))).toBe(false);
    expect(await questionById(store.db, question.id)).toMatchObject({ answerMailId: mailId });
    expect(await untoldEnds(store.db)).toEqual([]);
  });

  test('every end is to be reported, by mail or without', async () => {
    const { store, from, to } = await pair(engine);
    const [answered, expired] = [questionRecord(from, to), questionRecord(to, from)];
    await add(store, answered, expired, questionRecord(from, to));
    await store.write(async (tx) => {
      await endQuestion(tx, answered.id, { end: 'answered', text: 'yes' });
      await endQuestion(tx, expired.id, { end: 'expired', text: 'late' });
    });
    expect((await untoldEnds(store.db)).map(({ id }) => id)).toEqual([answered.id, expired.id]);
    expect(await store.write((tx) => noteTold(tx, expired.id, null))).toBe(true);
    expect(await questionById(store.db, expired.id)).toMatchObject({ toldAt: fixedTime, answerMailId: null });
    expect((await untoldEnds(store.db)).map(({ id }) => id)).toEqual([answered.id]);
  });

  test('one of many listeners gets a question, until its lease expires [5.2.14]', async () => {
    let now = fixedTime;
    const { store, from, to } = await pair(engine, { clock: () => now });
    const question = questionRecord(from, to);
    await add(store, question);
    const claim = () => store.write((tx) => claimForListener(tx, question.id, tx.now + limits.listenMs));
    expect((await Promise.all(Array.from({ length: 8 }, claim))).filter(Boolean)).toHaveLength(1);
    expect(await firstUnclaimed(store.db, to.id, now)).toBeNull();
    now += limits.listenMs;
    expect((await firstUnclaimed(store.db, to.id, now))?.id).toBe(question.id);
    expect(await claim()).toBe(true);
    await store.write((tx) => endQuestion(tx, question.id, { end: 'answered', text: 'yes' }));
    now += limits.listenMs;
    expect(await claim()).toBe(false);
    expect(await firstUnclaimed(store.db, to.id, now)).toBeNull();
  });

  test('the mails of a question are those that carried it to its recipient', async () => {
    const { store, from, to } = await pair(engine);
    const question = questionRecord(from, to);
    const first = mailOf(question, { id: question.mailId });
    const again = mailOf(question);
    const others = [
      mailOf(question, { questionId: newId() }),
      mailOf(question, { questionId: null }),
      mailOf(question, { fromId: to.id, toId: from.id, kind: 'answer' }),
    ];
    await store.write(async (tx) => {
      for (const each of [first, ...others, again]) await insertMail(tx, each);
    });
    await add(store, question);
    expect((await mailsOfQuestion(store.db, question)).map(({ id }) => id)).toEqual([first.id, again.id]);
  });

  test('undelivered mail of an ended question is found, unless it is claimed', async () => {
    const { store, from, to } = await pair(engine);
    const [ended, open] = [questionRecord(from, to), questionRecord(from, to)];
    const waits = mailOf(ended);
    const others = [
      mailOf(ended, { claimSessionId: newId() }),
      mailOf(ended, { deliveredAt: fixedTime }),
      mailOf(ended, { deadAt: fixedTime }),
      mailOf(ended, { fromId: to.id, toId: from.id, kind: 'answer' }),
      mailOf(open),
    ];
    await store.write(async (tx) => {
      for (const each of [...others, waits]) await insertMail(tx, each);
    });
    await add(store, ended, open);
    expect(await mailsOfEndedQuestions(store.db)).toEqual([]);
    await store.write((tx) => endQuestion(tx, ended.id, { end: 'expired', text: 'late' }));
    expect((await mailsOfEndedQuestions(store.db)).map(({ id }) => id)).toEqual([waits.id]);
  });

  test('the living agents of a phase are found by their tasks, newest first [S3-81]', async () => {
    const { store, project } = await pair(engine);
    const task = {
      id: newId(),
      projectId: project.id,
      phase: 'parsing',
      name: 'write it',
      description: '',
      dependsOn: [],
      createdBy: null,
      createdAt: fixedTime,
      summary: null,
      completedAt: fixedTime,
      blockedReason: null,
      crashes: 0,
      finishedAt: null,
      agentId: null,
      ...noInitiative,
    };
    const [old, young] = [
      agentRecord({ projectId: project.id, taskId: task.id }),
      agentRecord({ projectId: project.id, taskId: task.id }),
    ];
    const dead = agentRecord({ projectId: project.id, taskId: task.id, endedAt: 1 });
    await store.write(async (tx) => {
      await insertTask(tx, task);
      for (const agent of [old, young, dead]) await insertAgent(tx, agent);
    });
    const found = async (phase: string, projectId: string | null) =>
      (await agentsInPhase(store.db, phase, projectId)).map(({ id }) => id);
    expect(await found('parsing', project.id)).toEqual([young.id, old.id]);
    expect(await found('parsing', null)).toEqual([young.id, old.id]);
    expect(await found('parsing', newId())).toEqual([]);
    expect(await found('lexing', project.id)).toEqual([]);
  });

  test('living agents that ended with questions are found until something else starts', async () => {
    const { store, from, run } = await pair(engine);
    expect(await agentsWithQuestions(store.db)).toEqual([]);
    const questions = [{ id: 'a', question: 'which?' }];
    await store.write((tx) => endRun(tx, run.id, { outcome: 'completed', detail: null, questions }));
    expect((await agentsWithQuestions(store.db)).map(({ id }) => id)).toEqual([from.id]);
    await store.write((tx) => updateAgent(tx, from.id, { endedAt: fixedTime }));
    expect(await agentsWithQuestions(store.db)).toEqual([]);
  });
}
