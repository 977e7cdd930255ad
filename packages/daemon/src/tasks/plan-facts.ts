import { breachOf, isLimited } from '@pawl/core/accounts/budget';
import { totalUsage } from '@pawl/core/accounts/usage';
import type { TaskReading } from '@pawl/core/plan/plan';
import { contentText } from '@pawl/core/plan/plan-content';
import type { PlanFacts } from '@pawl/core/plan/plan-reading';
import { readPlan } from '@pawl/core/plan/plan-reading';
import { PawlError } from '@pawl/schema/error';
import type { Initiative, PlanContent } from '@pawl/schema/plan/plan';
import type { Task, Usage } from '@pawl/schema/record';
import { lastChangeOf } from '@pawl/store/changes/change-search';
import { findInitiatives, initiativeById, planVersion } from '@pawl/store/plan/initiatives';
import { planContent } from '@pawl/store/plan/plan-records';
import { agentsOfPlan } from '@pawl/store/plan/proposals';
import { usagesOf } from '@pawl/store/sessions/sessions';
import { tasksByIds } from '@pawl/store/projects/tasks';
import type { Database } from '@pawl/store/tables';
import { createHash } from 'node:crypto';

/** The hash of a plan's content; with `covered`, of what an approval covers. */
export function contentHash(content: PlanContent, covered?: ReadonlySet<string>): string {
  return createHash('sha256').update(contentText(content, covered)).digest('hex');
}

/** Reads the facts of one plan. */
export async function planFacts(db: Database, initiative: Initiative): Promise<PlanFacts> {
  const content = await planContent(db, initiative.id);
  const number = initiative.approvedVersion;
  const approved = number === null ? null : await planVersion(db, initiative.id, number);
  const own = new Set(content.tasks.map(({ id }) => id));
  const foreign = content.tasks.flatMap(({ dependsOn, ifFailed }) => [...dependsOn, ...ifFailed]);
  const outside = await tasksByIds(db, [...new Set(foreign.filter((id) => !own.has(id)))]);
  return {
    initiative,
    content,
    hash: contentHash(content, approved === null ? undefined : new Set(approved.taskIds)),
    approved,
    outside: new Map(outside.map((task) => [task.id, task])),
    breach: isLimited(initiative.budget) ? await breachFor(db, initiative) : null,
    branch: await branchFacts(db, initiative),
  };
}

async function branchFacts(db: Database, { projectId, branch }: Initiative): Promise<PlanFacts['branch']> {
  if (branch === null) return null;
  const change = await lastChangeOf(db, projectId, { agentId: null, branch });
  const isOpen = change !== null && change.mergedAt === null && change.closedAt === null;
  return { isLanded: change !== null && change.mergedAt !== null, changeId: isOpen ? change.id : null };
}

/** The usage of all agents of a plan, architects included. */
export async function planUsage(db: Database, initiativeId: string): Promise<Usage> {
  const agents = await agentsOfPlan(db, initiativeId);
  const usages = await usagesOf(
    db,
    agents.map(({ id }) => id),
  );
  return totalUsage([...usages.values()].flat());
}

/** The usage for each task of a plan, by task id. */
export async function usageByTask(db: Database, initiativeId: string): Promise<Map<string | null, Usage>> {
  const agents = await agentsOfPlan(db, initiativeId);
  const usages = await usagesOf(
    db,
    agents.map(({ id }) => id),
  );
  const ofTask = Map.groupBy(agents, ({ taskId }) => taskId);
  return new Map(
    [...ofTask].map(([taskId, own]) => [taskId, totalUsage(own.flatMap(({ id }) => usages.get(id) ?? []))]),
  );
}

/** The used-up part of a plan's budget, in words; null if there is none. */
async function breachFor(db: Database, { id, budget }: Initiative): Promise<string | null> {
  // A plan has no limit of minutes.
  return breachOf({ ...budget, minutes: null }, { usage: await planUsage(db, id), minutes: 0 })?.detail ?? null;
}

/** The states of those tasks that belong to initiatives, by task. */
export async function planReadings(db: Database, tasks: readonly Task[]): Promise<Map<string, TaskReading>> {
  const found = new Map<string, TaskReading>();
  const ids = new Set(tasks.flatMap(({ initiativeId }) => initiativeId ?? []));
  for (const id of ids) {
    const initiative = await initiativeById(db, id);
    if (initiative === null) continue;
    for (const [taskId, reading] of readPlan(await planFacts(db, initiative)).tasks) found.set(taskId, reading);
  }
  return found;
}

/** Resolves a plan by its id, an id prefix, or its exact name. */
export async function findPlan(db: Database, reference: string, projectId?: string): Promise<Initiative> {
  const [first, ...others] = await findInitiatives(db, reference, projectId);
  const shown = JSON.stringify(reference.slice(0, 80));
  if (first === undefined) {
    throw new PawlError('not_found', `There is no plan ${shown}.`, {
      hint: 'See `pawl plan ls --all`; an id, the first 4 or more characters of one, or the exact name will do.',
    });
  }
  if (others.length === 0) return first;
  throw new PawlError('ambiguous', `${shown} matches more than one plan.`, {
    hint: 'Give more characters of the id, or name the repository with -C.',
    details: { matches: [first, ...others].map(({ id, name }) => ({ id, name })) },
  });
}

export async function requiredPlan(db: Database, id: string): Promise<Initiative> {
  const initiative = await initiativeById(db, id);
  if (initiative === null) throw new PawlError('not_found', `There is no plan ${id}.`);
  return initiative;
}
