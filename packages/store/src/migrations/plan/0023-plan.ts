import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { ColumnTypes } from '../../engine/engine.ts';
import { addIndex } from '../add-index.ts';
import type { Migration } from '../migration.ts';

/** Initiatives with their pages, decisions, phases, versions and proposals; tasks may belong to one. */
export const plan: Migration = {
  name: '0023-plan',
  async up(db, types) {
    await createInitiatives(db, types);
    await createContent(db, types);
    await createProposals(db, types);
    await extendTasks(db, types);
  },
};

async function createInitiatives(db: Kysely<never>, types: ColumnTypes): Promise<void> {
  await types
    .finish(db.schema.createTable('initiatives'))
    .addColumn('ordinal', types.integer, types.numbered)
    .addColumn('id', types.key, (column) => column.notNull().unique())
    .addColumn('project_id', types.key, (column) => column.notNull().references('projects.id'))
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('mode', 'text', (column) => column.notNull())
    .addColumn('budget', 'text', (column) => column.notNull())
    .addColumn('created_by', types.key)
    .addColumn('created_at', types.integer, (column) => column.notNull())
    .addColumn('approved_version', types.integer)
    .addColumn('approved_at', types.integer)
    .addColumn('launch', 'text')
    .addColumn('launched_at', types.integer)
    .addColumn('paused_at', types.integer)
    .addColumn('archived_at', types.integer)
    .execute();
  await addIndex(db, 'initiatives_of_project', 'initiatives', ['project_id', 'ordinal']);
  await types
    .finish(db.schema.createTable('plan_versions'))
    .addColumn('initiative_id', types.key, (column) => column.notNull())
    .addColumn('number', types.integer, (column) => column.notNull())
    .addColumn('hash', 'text', (column) => column.notNull())
    .addColumn('task_ids', 'text', (column) => column.notNull())
    .addColumn('created_at', types.integer, (column) => column.notNull())
    .addColumn('created_by', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('plan_versions_key', ['initiative_id', 'number'] as never)
    .execute();
}

async function createContent(db: Kysely<never>, types: ColumnTypes): Promise<void> {
  const start = (name: string) =>
    types
      .finish(db.schema.createTable(name))
      .addColumn('ordinal', types.integer, types.numbered)
      .addColumn('id', types.key, (column) => column.notNull().unique())
      .addColumn('initiative_id', types.key, (column) => column.notNull());
  await start('pages')
    .addColumn('parent_id', types.key)
    .addColumn('title', 'text', (column) => column.notNull())
    .addColumn('text', 'text', (column) => column.notNull())
    .execute();
  await start('decisions')
    .addColumn('topic', 'text', (column) => column.notNull())
    .addColumn('decision', 'text', (column) => column.notNull())
    .addColumn('text', 'text', (column) => column.notNull())
    .execute();
  await start('phases')
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('text', 'text', (column) => column.notNull())
    .addColumn('files', 'text', (column) => column.notNull())
    .addColumn('depends_on', 'text', (column) => column.notNull())
    .addColumn('is_integration', types.integer, (column) => column.notNull())
    .addColumn('approved_at', types.integer)
    .execute();
  for (const name of ['pages', 'decisions', 'phases'])
    await addIndex(db, `${name}_of_initiative`, name, ['initiative_id', 'ordinal']);
}

async function createProposals(db: Kysely<never>, types: ColumnTypes): Promise<void> {
  await types
    .finish(db.schema.createTable('proposals'))
    .addColumn('ordinal', types.integer, types.numbered)
    .addColumn('id', types.key, (column) => column.notNull().unique())
    .addColumn('project_id', types.key, (column) => column.notNull())
    .addColumn('initiative_id', types.key)
    .addColumn('agent_id', types.key)
    .addColumn('mode', 'text', (column) => column.notNull())
    .addColumn('summary', 'text', (column) => column.notNull())
    .addColumn('items', 'text', (column) => column.notNull())
    .addColumn('complaints', 'text', (column) => column.notNull())
    .addColumn('created_at', types.integer, (column) => column.notNull())
    .addColumn('accepted_at', types.integer)
    .addColumn('undo', 'text')
    .addColumn('dismissed_at', types.integer)
    .addColumn('dismiss_reason', 'text')
    .addColumn('reverted_at', types.integer)
    .addColumn('decided_by', 'text')
    .execute();
  await addIndex(db, 'proposals_of_initiative', 'proposals', ['initiative_id', 'ordinal']);
  await addIndex(db, 'proposals_of_agent', 'proposals', ['agent_id', 'ordinal']);
  await types
    .finish(db.schema.createTable('plan_agents'))
    .addColumn('agent_id', types.key, (column) => column.primaryKey())
    .addColumn('initiative_id', types.key, (column) => column.notNull())
    .addColumn('phase_id', types.key)
    .execute();
  await addIndex(db, 'plan_agents_of_initiative', 'plan_agents', ['initiative_id']);
}

async function extendTasks(db: Kysely<never>, types: ColumnTypes): Promise<void> {
  const tasks = db.schema.alterTable('tasks');
  await tasks.addColumn('initiative_id', types.key).execute();
  await tasks.addColumn('phase_id', types.key).execute();
  await tasks.addColumn('priority', 'text', (column) => column.notNull().defaultTo('medium')).execute();
  await tasks.addColumn('files', 'text', (column) => column.notNull().defaultTo('[]')).execute();
  await tasks.addColumn('if_failed', 'text', (column) => column.notNull().defaultTo('[]')).execute();
  await tasks.addColumn('found_while', types.key).execute();
  await tasks.addColumn('failed_at', types.integer).execute();
  await tasks.addColumn('cancelled_at', types.integer).execute();
  await addIndex(db, 'tasks_of_initiative', 'tasks', ['initiative_id', 'ordinal'], {
    where: sql`initiative_id is not null`,
  });
}
