import { limits } from '@pawl/schema/limit';
import type { Mail, Question, QuestionEnd } from '@pawl/schema/mail';
import type { Agent } from '@pawl/schema/record';
import { sql } from 'kysely';
import { isIdPrefix } from '../id-prefix.ts';
import { agentColumns, agentOf } from '../agents/agents.ts';
import { mailOf } from './mail.ts';
import { integer, nullableInteger, toColumns } from '../row.ts';
import { storeLimits } from '../store-limit.ts';
import type { Database, Row } from '../tables.ts';
import type { WriteTransaction } from '../write-transaction.ts';

export async function insertQuestion(tx: WriteTransaction, question: Question): Promise<void> {
  await tx.db.insertInto('questions').values(toColumns(question)).execute();
}

export async function questionById(db: Database, id: string): Promise<Question | null> {
  const row = await db.selectFrom('questions').selectAll().where('id', '=', id).executeTakeFirst();
  return row ? questionOf(row) : null;
}

/** Questions by id or id prefix. The caller refuses more than one match. */
export async function findQuestions(db: Database, reference: string): Promise<Question[]> {
  const exact = await questionById(db, reference);
  if (exact !== null) return [exact];
  if (!isIdPrefix(reference)) return [];
  const rows = await db
    .selectFrom('questions')
    .selectAll()
    .where('id', '>=', reference)
    .where('id', '<', `${reference}~`)
    .orderBy('id')
    .limit(storeLimits.matches)
    .execute();
  return rows.map(questionOf);
}

/** The open questions to an agent, in the order asked. */
export async function openQuestionsTo(db: Database, toId: string): Promise<Question[]> {
  const rows = await open(db).where('to_id', '=', toId).orderBy('ordinal').limit(limits.pageRows).execute();
  return rows.map(questionOf);
}

/** The open questions from an agent, in the order asked. */
export async function openQuestionsFrom(db: Database, fromId: string): Promise<Question[]> {
  const rows = await open(db).where('from_id', '=', fromId).orderBy('ordinal').limit(limits.pageRows).execute();
  return rows.map(questionOf);
}

/** A page of all open questions, after the given one, by recipient. */
export async function openQuestions(db: Database, after: Question | null = null): Promise<Question[]> {
  let query = open(db).orderBy('to_id').orderBy('ordinal').limit(limits.pageRows);
  if (after !== null) {
    const before = db.selectFrom('questions as known').select('known.ordinal').where('known.id', '=', after.id);
    query = query.where((where) =>
      where.or([where('to_id', '>', after.toId), where('to_id', '=', after.toId).and('ordinal', '>', before)]),
    );
  }
  return (await query.execute()).map(questionOf);
}

/**
 * The next due time of an open question after `since`: its deadline, or the end of a listener's claim. May be in the
 * past. Null if there is none.
 */
export async function nextDue(db: Database, since: number): Promise<number | null> {
  const row = await db
    .selectFrom('questions')
    .select(({ fn }) => [
      fn.min('deadline_at').as('deadline'),
      fn.min('listened_until').filterWhere('listened_until', '>', since).as('listened'),
    ])
    .where('ended_at', 'is', null)
    .executeTakeFirst();
  const [deadline, listened] = [nullableInteger(row?.deadline ?? null), nullableInteger(row?.listened ?? null)];
  return deadline === null || listened === null ? (deadline ?? listened) : Math.min(deadline, listened);
}

/**
 * Ends an open question, once. `text` is its answer, or the reason if there is none. Returns false and changes nothing
 * if it has ended already.
 */
export async function endQuestion(
  tx: WriteTransaction,
  id: string,
  { end, text }: { end: QuestionEnd; text: string },
): Promise<boolean> {
  const { numUpdatedRows } = await tx.db
    .updateTable('questions')
    .set({ end, answer: text, ended_at: tx.now })
    .where('id', '=', id)
    .where('ended_at', 'is', null)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

/** Records that the asker knows the end, once, and by which mail, if any. False if already recorded. */
export async function noteTold(tx: WriteTransaction, id: string, mailId: string | null): Promise<boolean> {
  const { numUpdatedRows } = await tx.db
    .updateTable('questions')
    .set({ told_at: tx.now, answer_mail_id: mailId })
    .where('id', '=', id)
    .where('ended_at', 'is not', null)
    .where('told_at', 'is', null)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

/** Ended questions whose asker is not known to know, oldest first. */
export async function untoldEnds(db: Database): Promise<Question[]> {
  const rows = await db
    .selectFrom('questions')
    .selectAll()
    .where('ended_at', 'is not', null)
    .where('told_at', 'is', null)
    .orderBy('ordinal')
    .limit(limits.pageRows)
    .execute();
  return rows.map(questionOf);
}

/** The first question to an agent that no listener holds now, or null. */
export async function firstUnclaimed(db: Database, toId: string, now: number): Promise<Question | null> {
  const row = await open(db)
    .where('to_id', '=', toId)
    .where((where) => where.or([where('listened_until', 'is', null), where('listened_until', '<=', now)]))
    .orderBy('ordinal')
    .limit(1)
    .executeTakeFirst();
  return row ? questionOf(row) : null;
}

/** Claims an open question for a listener until a time. False if another one has it. */
export async function claimForListener(tx: WriteTransaction, id: string, until: number): Promise<boolean> {
  const { numUpdatedRows } = await tx.db
    .updateTable('questions')
    .set({ listened_until: until })
    .where('id', '=', id)
    .where('ended_at', 'is', null)
    .where((where) => where.or([where('listened_until', 'is', null), where('listened_until', '<=', tx.now)]))
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

/** The mails that carried a question to its recipient, including reminders, in order. */
export async function mailsOfQuestion(db: Database, question: Question): Promise<Mail[]> {
  const rows = await db
    .selectFrom('mail')
    .selectAll()
    .where('question_id', '=', question.id)
    // An expression, so that the planner does not use the index on recipients.
    .where(sql`coalesce(to_id, '')`, '=', question.toId)
    .orderBy('ordinal')
    .limit(limits.mailAttempts)
    .execute();
  return rows.map(mailOf);
}

/** Unclaimed waiting mail of questions that have ended. */
export async function mailsOfEndedQuestions(db: Database): Promise<Mail[]> {
  const rows = await db
    .selectFrom('mail')
    .innerJoin('questions', 'questions.id', 'mail.question_id')
    .selectAll('mail')
    .where('mail.question_id', 'is not', null)
    .where('mail.delivered_at', 'is', null)
    .where('mail.dead_at', 'is', null)
    .where('mail.claim_session_id', 'is', null)
    .where('questions.ended_at', 'is not', null)
    .whereRef('questions.to_id', '=', 'mail.to_id')
    .orderBy('mail.ordinal')
    .limit(limits.pageRows)
    .execute();
  return rows.map(mailOf);
}

/** The living agents whose task is in a phase, newest first; of one project, or of any. */
export async function agentsInPhase(db: Database, phase: string, projectId: string | null): Promise<Agent[]> {
  let query = db
    .selectFrom('tasks')
    .innerJoin('agents', 'agents.task_id', 'tasks.id')
    .select(agentColumns.map((column) => `agents.${column}` as const))
    .where('tasks.phase', '=', phase)
    .where('agents.ended_at', 'is', null);
  if (projectId !== null) query = query.where('tasks.project_id', '=', projectId);
  const rows = await query.orderBy('agents.ordinal', 'desc').limit(limits.pageRows).execute();
  return rows.map(agentOf);
}

/** The living agents whose last run ended with questions for a person, by when they asked. */
export async function agentsWithQuestions(db: Database): Promise<Agent[]> {
  const rows = await db
    .selectFrom('agents')
    .innerJoin('runs', 'runs.id', 'agents.run_id')
    .select(agentColumns.map((column) => `agents.${column}` as const))
    .where('agents.ended_at', 'is', null)
    .where('runs.outcome', '=', 'completed')
    .where('runs.questions', 'is not', null)
    .orderBy('runs.ordinal')
    .limit(limits.pageRows)
    .execute();
  return rows.map(agentOf);
}

function open(db: Database) {
  return db.selectFrom('questions').selectAll().where('ended_at', 'is', null);
}

function questionOf(row: Row<'questions'>): Question {
  return {
    id: row.id,
    projectId: row.project_id,
    fromId: row.from_id,
    toId: row.to_id,
    kind: row.kind,
    question: row.question,
    mailId: row.mail_id,
    taskId: row.task_id,
    phase: row.phase,
    askedAt: integer(row.asked_at),
    deadlineAt: nullableInteger(row.deadline_at),
    listenedUntil: nullableInteger(row.listened_until),
    endedAt: nullableInteger(row.ended_at),
    end: row.end,
    answer: row.answer,
    toldAt: nullableInteger(row.told_at),
    answerMailId: row.answer_mail_id,
  };
}
