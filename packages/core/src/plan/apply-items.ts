import type { PlanContent, PlanItem, PlanKind, PlanUndo } from '@pawl/schema/plan/plan';
import type { Task } from '@pawl/schema/record';
import { noInitiative } from '@pawl/schema/record';

/** Facts for new records: their plan, project, time and author. */
export type PlanScope = { initiativeId: string; projectId: string; now: number; createdBy: string | null };

/** The content of a plan after changes. Pure: nothing is written. Validate with `checkItems` first. */
export function applyItems(content: PlanContent, items: readonly PlanItem[], scope: PlanScope): PlanContent {
  const of = (kind: PlanKind) => items.filter((item) => item.kind === kind);
  const { initiativeId } = scope;
  const pages = merged(content.pages, of('page'), (item) => ({
    id: item.id,
    initiativeId,
    parentId: item.parentId,
    title: item.name,
    text: item.text,
  }));
  const decisions = merged(content.decisions, of('decision'), ({ id, name, decision, text }) => ({
    id,
    initiativeId,
    topic: name,
    decision,
    text,
  }));
  const phases = merged(content.phases, of('phase'), (item, before) => ({
    id: item.id,
    initiativeId,
    name: item.name,
    text: item.text,
    files: item.files,
    dependsOn: item.dependsOn,
    isIntegration: item.isIntegration,
    approvedAt: before?.approvedAt ?? null,
    reviewed: before?.reviewed ?? null,
  }));
  const tasks = merged(content.tasks, of('task'), (item, before) => taskFrom(item, before, scope));
  // A task is shown under the name of its phase.
  const names = new Map(phases.map(({ id, name }) => [id, name]));
  const named = tasks.map((task) => {
    const phase = task.phaseId === null ? task.phase : (names.get(task.phaseId) ?? task.phase);
    return phase === task.phase ? task : { ...task, phase };
  });
  return { pages, decisions, phases, tasks: named };
}

/** Replaces, adds and removes records by id; the order of the others stays. */
function merged<Kept extends { id: string }>(
  before: readonly Kept[],
  items: readonly PlanItem[],
  make: (item: PlanItem, before: Kept | undefined) => Kept,
): Kept[] {
  const byId = new Map(before.map((each) => [each.id, each]));
  for (const item of items) {
    if (item.action === 'delete') byId.delete(item.id);
    else byId.set(item.id, make(item, byId.get(item.id)));
  }
  return [...byId.values()];
}

function taskFrom(item: PlanItem, before: Task | undefined, scope: PlanScope): Task {
  const { id, name, text: description, dependsOn, ifFailed, files, priority, parentId: phaseId } = item;
  const planned = { name, description, dependsOn, ifFailed, files, priority, phaseId };
  if (before !== undefined) return { ...before, ...planned };
  return {
    ...noInitiative,
    id,
    projectId: scope.projectId,
    phase: '',
    createdBy: scope.createdBy,
    createdAt: scope.now,
    summary: null,
    finishedAt: null,
    completedAt: null,
    blockedReason: null,
    crashes: 0,
    agentId: null,
    initiativeId: scope.initiativeId,
    ...planned,
  };
}

const kinds = { page: 'pages', decision: 'decisions', phase: 'phases', task: 'tasks' } as const;

/** Every record that differs between two contents. */
export function changesBetween(before: PlanContent, after: PlanContent): PlanUndo[] {
  return (Object.keys(kinds) as PlanKind[]).flatMap((kind) => {
    const old = byId(before[kinds[kind]]);
    const now = byId(after[kinds[kind]]);
    const ids = new Set([...old.keys(), ...now.keys()]);
    return [...ids].flatMap((id): PlanUndo[] => {
      const [was, is] = [old.get(id) ?? null, now.get(id) ?? null];
      return sameRecord(was, is) ? [] : [{ kind, id, before: was, after: is }];
    });
  });
}

/** The record of a plan with this id; null if there is none. */
export function recordOf(content: PlanContent, kind: PlanKind, id: string): unknown {
  return byId(content[kinds[kind]]).get(id) ?? null;
}

/** Compares two records, whatever the order of their fields. */
export function sameRecord(one: unknown, other: unknown): boolean {
  return JSON.stringify(ordered(one)) === JSON.stringify(ordered(other));
}

/** True if a record still has the fields of an earlier one; fields that were added since do not matter. */
export function stillEquals(now: unknown, earlier: unknown): boolean {
  if (now === null || earlier === null || typeof now !== 'object' || typeof earlier !== 'object')
    return sameRecord(now, earlier);
  const known = Object.entries(now).filter(([name]) => name in earlier);
  return sameRecord(Object.fromEntries(known), earlier);
}

function ordered(record: unknown): unknown {
  if (record === null || typeof record !== 'object' || Array.isArray(record)) return record;
  return Object.entries(record).toSorted(([one], [other]) => (one < other ? -1 : 1));
}

function byId(records: readonly { id: string }[]): Map<string, { id: string }> {
  return new Map(records.map((record) => [record.id, record]));
}
