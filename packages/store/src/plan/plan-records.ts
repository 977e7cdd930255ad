import type { Decision, Page, Phase, PlanContent } from '@pawl/schema/plan/plan';
import { phaseSchema } from '@pawl/schema/plan/plan';
import { tasksOfInitiative } from '../projects/tasks.ts';
import { integer, json, nullableInteger, nullableJson, toColumns } from '../row.ts';
import type { Database, Row } from '../tables.ts';
import type { WriteTransaction } from '../write-transaction.ts';

/** Adds a page, or replaces the one with its id. */
export async function putPage(tx: WriteTransaction, page: Page): Promise<void> {
  const { id, ...rest } = toColumns(page);
  await tx.db
    .insertInto('pages')
    .values({ id, ...rest })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(rest))
    .execute();
}

export async function putDecision(tx: WriteTransaction, decision: Decision): Promise<void> {
  const { id, ...rest } = toColumns(decision);
  await tx.db
    .insertInto('decisions')
    .values({ id, ...rest })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(rest))
    .execute();
}

export async function putPhase(tx: WriteTransaction, phase: Phase): Promise<void> {
  const { id, ...rest } = toColumns({ ...phase, isIntegration: phase.isIntegration ? 1 : 0 });
  await tx.db
    .insertInto('phases')
    .values({ id, ...rest })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(rest))
    .execute();
}

export async function deletePlanRecord(
  tx: WriteTransaction,
  table: 'pages' | 'decisions' | 'phases',
  id: string,
): Promise<void> {
  await tx.db.deleteFrom(table).where('id', '=', id).execute();
}

/** Everything in an initiative's plan, each in the order added. */
export async function planContent(db: Database, initiativeId: string): Promise<PlanContent> {
  const pages = db.selectFrom('pages').selectAll().where('initiative_id', '=', initiativeId);
  const decisions = db.selectFrom('decisions').selectAll().where('initiative_id', '=', initiativeId);
  const phases = db.selectFrom('phases').selectAll().where('initiative_id', '=', initiativeId);
  return {
    pages: (await pages.orderBy('ordinal').execute()).map(pageOf),
    decisions: (await decisions.orderBy('ordinal').execute()).map(decisionOf),
    phases: (await phases.orderBy('ordinal').execute()).map(phaseOf),
    tasks: await tasksOfInitiative(db, initiativeId),
  };
}

function pageOf({ id, initiative_id, parent_id, title, text }: Row<'pages'>): Page {
  return { id, initiativeId: initiative_id, parentId: parent_id, title, text };
}

function decisionOf({ id, initiative_id, topic, decision, text }: Row<'decisions'>): Decision {
  return { id, initiativeId: initiative_id, topic, decision, text };
}

function phaseOf(row: Row<'phases'>): Phase {
  return {
    id: row.id,
    initiativeId: row.initiative_id,
    name: row.name,
    text: row.text,
    files: json(phaseSchema.shape.files, row.files),
    dependsOn: json(phaseSchema.shape.dependsOn, row.depends_on),
    isIntegration: integer(row.is_integration) === 1,
    approvedAt: nullableInteger(row.approved_at),
    reviewed: nullableJson(phaseSchema.shape.reviewed.unwrap(), row.reviewed),
  };
}
