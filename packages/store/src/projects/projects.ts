import type { Project } from '@pawl/schema/record';
import { limits } from '@pawl/schema/limit';
import { integer, toColumns } from '../row.ts';
import type { Database, Row } from '../tables.ts';
import type { WriteTransaction } from '../write-transaction.ts';

/** Adds a project. A taken root or name is a conflict. */
export async function insertProject(tx: WriteTransaction, project: Project): Promise<void> {
  await tx.db.insertInto('projects').values(toColumns(project)).execute();
}

/** Records the new location of a project's repository. */
export async function moveProject(tx: WriteTransaction, id: string, root: string): Promise<void> {
  await tx.db.updateTable('projects').set({ root }).where('id', '=', id).execute();
}

export function projectById(db: Database, id: string): Promise<Project | null> {
  return projectWhere(db, 'id', id);
}

/** The project at this canonical path, or null. */
export function projectByRoot(db: Database, root: string): Promise<Project | null> {
  return projectWhere(db, 'root', root);
}

export function projectByName(db: Database, name: string): Promise<Project | null> {
  return projectWhere(db, 'name', name);
}

export async function listProjects(db: Database): Promise<Project[]> {
  const rows = await db.selectFrom('projects').selectAll().orderBy('name').limit(limits.pageRows).execute();
  return rows.map(projectOf);
}

async function projectWhere(db: Database, column: 'id' | 'root' | 'name', value: string): Promise<Project | null> {
  const row = await db.selectFrom('projects').selectAll().where(column, '=', value).executeTakeFirst();
  return row ? projectOf(row) : null;
}

function projectOf(row: Row<'projects'>): Project {
  return { id: row.id, name: row.name, root: row.root, createdAt: integer(row.created_at) };
}
