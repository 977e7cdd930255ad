import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { ColumnTypes } from '../../engine/engine.ts';
import { addIndex } from '../add-index.ts';
import type { Migration } from '../migration.ts';

/** Agents that talk: mail, questions, nudges; completion, adoption and stuck agents; the peer of an event. */
export const mail: Migration = {
  name: '0004-mail',
  async up(db, types) {
    await extendAgents(db, types);
    await extendEvents(db, types);
    await createMail(db, types);
    await createQuestions(db, types);
    await createMailboxes(db, types);
    await createNudges(db, types);
  },
};

async function extendAgents(db: Kysely<never>, types: ColumnTypes): Promise<void> {
  const agents = db.schema.alterTable('agents');
  await agents.addColumn('completion', 'text').execute();
  await agents.addColumn('adopted', 'text').execute();
  await agents.addColumn('stuck_at', types.integer).execute();
  await agents.addColumn('stuck_reason', 'text').execute();
}

async function extendEvents(db: Kysely<never>, types: ColumnTypes): Promise<void> {
  await db.schema.alterTable('events').addColumn('peer_id', types.key).execute();
  await addIndex(db, 'events_of_peer', 'events', ['peer_id', 'seq'], { where: sql`peer_id is not null` });
}

async function createMail(db: Kysely<never>, types: ColumnTypes): Promise<void> {
  await types
    .finish(db.schema.createTable('mail'))
    .addColumn('ordinal', types.integer, types.numbered)
    .addColumn('id', types.key, (column) => column.notNull().unique())
    .addColumn('project_id', types.key)
    .addColumn('from_id', types.key, (column) => column.notNull().references('agents.id'))
    .addColumn('to_id', types.key, (column) => column.notNull().references('agents.id'))
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('body', 'text', (column) => column.notNull())
    .addColumn('body_file', 'text')
    .addColumn('body_bytes', types.integer, (column) => column.notNull())
    .addColumn('question_id', types.key)
    .addColumn('created_at', types.integer, (column) => column.notNull())
    .addColumn('delivered_at', types.integer)
    .addColumn('read_at', types.integer)
    .addColumn('acked_at', types.integer)
    .addColumn('channel', 'text')
    .addColumn('dead_at', types.integer)
    .addColumn('dead_reason', 'text')
    .addColumn('claim_session_id', types.key)
    .addColumn('attempts', types.integer, (column) => column.notNull().defaultTo(0))
    .execute();
  await addIndex(db, 'mail_to', 'mail', ['to_id', 'ordinal']);
  await addIndex(db, 'mail_from', 'mail', ['from_id', 'ordinal']);
  // Undelivered mail: the only part of the table that a sweep reads.
  await addIndex(db, 'mail_pending', 'mail', ['to_id', 'ordinal'], {
    where: sql`delivered_at is null and dead_at is null`,
  });
  await addIndex(db, 'mail_unread', 'mail', ['to_id', 'ordinal'], { where: sql`read_at is null and dead_at is null` });
  await addIndex(db, 'mail_claimed', 'mail', ['claim_session_id', 'ordinal'], {
    where: sql`claim_session_id is not null`,
  });
  await addIndex(db, 'mail_of_question', 'mail', ['question_id', 'ordinal'], {
    where: sql`question_id is not null`,
  });
  // Undelivered questions and answers: few, and checked for askers that no longer wait.
  await addIndex(db, 'mail_asking', 'mail', ['ordinal'], {
    where: sql`question_id is not null and delivered_at is null and dead_at is null`,
  });
}

async function createQuestions(db: Kysely<never>, types: ColumnTypes): Promise<void> {
  await types
    .finish(db.schema.createTable('questions'))
    .addColumn('ordinal', types.integer, types.numbered)
    .addColumn('id', types.key, (column) => column.notNull().unique())
    .addColumn('project_id', types.key)
    .addColumn('from_id', types.key, (column) => column.notNull().references('agents.id'))
    .addColumn('to_id', types.key, (column) => column.notNull().references('agents.id'))
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('question', 'text', (column) => column.notNull())
    .addColumn('mail_id', types.key, (column) => column.notNull())
    .addColumn('task_id', types.key)
    .addColumn('phase', 'text')
    .addColumn('asked_at', types.integer, (column) => column.notNull())
    .addColumn('deadline_at', types.integer)
    .addColumn('listened_until', types.integer)
    .addColumn('ended_at', types.integer)
    .addColumn('end', 'text')
    .addColumn('answer', 'text')
    .addColumn('told_at', types.integer)
    .addColumn('answer_mail_id', types.key)
    .execute();
  await addIndex(db, 'questions_open_to', 'questions', ['to_id', 'ordinal'], { where: sql`ended_at is null` });
  await addIndex(db, 'questions_open_from', 'questions', ['from_id', 'ordinal'], { where: sql`ended_at is null` });
  // Ends that the asker does not know yet: few, and looked up often.
  await addIndex(db, 'questions_untold', 'questions', ['ordinal'], {
    where: sql`ended_at is not null and told_at is null`,
  });
}

async function createMailboxes(db: Kysely<never>, types: ColumnTypes): Promise<void> {
  await types
    .finish(db.schema.createTable('mailboxes'))
    .addColumn('agent_id', types.key, (column) => column.primaryKey())
    .addColumn('hinted_at', types.integer)
    .addColumn('looked_at', types.integer)
    .addColumn('wakes', 'text', (column) => column.notNull().defaultTo('[]'))
    .execute();
}

async function createNudges(db: Kysely<never>, types: ColumnTypes): Promise<void> {
  await types
    .finish(db.schema.createTable('nudges'))
    .addColumn('agent_id', types.key, (column) => column.primaryKey())
    .addColumn('nudged_at', types.integer)
    .addColumn('mail_id', types.key)
    .addColumn('backoff_ms', types.integer, (column) => column.notNull().defaultTo(0))
    .addColumn('seen_seq', types.integer, (column) => column.notNull().defaultTo(0))
    .addColumn('skip_reason', 'text')
    .execute();
}
