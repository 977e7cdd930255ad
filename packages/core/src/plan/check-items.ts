import { messageOf } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import type { PlanContent, PlanItem } from '@pawl/schema/plan/plan';
import type { Task } from '@pawl/schema/record';
import { applyItems } from './apply-items.ts';
import type { TasksById } from './plan.ts';
import { checkTaskPlan, normalisedName } from './plan.ts';
import { brokenLinks } from './stage.ts';

/** Everything wrong with changes of a plan as it is now; empty if they can be applied. */
export function checkItems(content: PlanContent, items: readonly PlanItem[], outside: TasksById): string[] {
  const complaints = [...items.flatMap((item) => [...existence(item, content), ...texts(item)]), ...repeatedIds(items)];
  if (complaints.length > 0) return complaints;
  const nowhere = { initiativeId: '', projectId: '', now: 0, createdBy: null };
  const after = applyItems(content, items, nowhere);
  return [...doubles(after, items), ...pageLinks(after), ...brokenLinks(after, outside)];
}

function* existence(item: PlanItem, content: PlanContent): Generator<string> {
  const shown = label(item);
  const known = idsOf(content);
  const kind = known.get(item.id);
  if (kind !== undefined && kind !== item.kind)
    yield `${shown}: the id belongs to a ${kind}; take another one from \`pawl id\`.`;
  else if (item.action === 'create' && kind !== undefined)
    yield `${shown}: there is one with this id; its action is update.`;
  else if (item.action !== 'create' && kind === undefined)
    yield `${shown}: there is no ${item.kind} with the id ${item.id}; its action is create.`;
  const task = item.kind === 'task' ? content.tasks.find(({ id }) => id === item.id) : undefined;
  if (task !== undefined && hasStarted(task))
    yield `${shown}: work on this task has started, so it can no longer be changed. Add another task for what is left.`;
}

/** True for a task whose text an agent may have read. */
export function hasStarted({ agentId, finishedAt, completedAt, crashes }: Task): boolean {
  return agentId !== null || finishedAt !== null || completedAt !== null || crashes > 0;
}

function* texts(item: PlanItem): Generator<string> {
  if (item.action === 'delete') return;
  try {
    checkTaskPlan({ ...item, phase: '', description: item.text });
  } catch (error) {
    yield `${label(item)}: ${messageOf(error)}`;
  }
  if (item.kind === 'decision' && item.decision.trim() === '') yield `${label(item)}: the field decision is empty.`;
  if (item.kind === 'phase' && item.name.length > limits.taskPhaseCharacters)
    yield `${label(item)}: the name of a phase may have at most ${limits.taskPhaseCharacters} characters.`;
}

function repeatedIds(items: readonly PlanItem[]): string[] {
  const groups = Map.groupBy(items, ({ id }) => id);
  return [...groups].flatMap(([id, same]) =>
    same.length > 1 ? [`The id ${id} is used ${same.length} times; each record needs its own from \`pawl id\`.`] : [],
  );
}

/** Records with the same name, however it is written; among the new ones, or beside an old one. */
function doubles(after: PlanContent, items: readonly PlanItem[]): string[] {
  const touched = new Set(items.map(({ id }) => id));
  const named = [
    ...after.phases.map(({ id, name }) => ({ id, name, key: `phase ${normalisedName(name)}`, kind: 'phases' })),
    ...after.decisions.map(({ id, topic }) => ({
      id,
      name: topic,
      key: `decision ${normalisedName(topic)}`,
      kind: 'decisions',
    })),
    ...after.pages.map(({ id, title, parentId }) => ({
      id,
      name: title,
      key: `page ${parentId} ${normalisedName(title)}`,
      kind: 'pages',
    })),
    ...after.tasks
      .filter(({ completedAt, cancelledAt }) => completedAt === null && cancelledAt === null)
      .map(({ id, name, phaseId }) => ({ id, name, key: `task ${phaseId} ${normalisedName(name)}`, kind: 'tasks' })),
  ];
  return [...Map.groupBy(named, ({ key }) => key).values()].flatMap((same) => {
    const [first] = same;
    if (first === undefined || same.length < 2 || !same.some(({ id }) => touched.has(id))) return [];
    const ids = same.map(({ id }) => id).join(', ');
    return [
      `${same.length} ${first.kind} have the name ${JSON.stringify(first.name)}: ${ids}. Keep one, or change the old one by its id.`,
    ];
  });
}

function pageLinks({ pages }: PlanContent): string[] {
  const above = new Map(pages.map(({ id, parentId }) => [id, parentId]));
  return pages.flatMap(({ id, title, parentId }) => {
    if (parentId !== null && !above.has(parentId))
      return [`The page ${title} is below ${parentId}, which does not exist.`];
    let steps = 0;
    for (let at = parentId; at !== null && steps <= pages.length; at = above.get(at) ?? null, steps++)
      if (at === id) return [`The page ${title} is below itself.`];
    return [];
  });
}

function idsOf(content: PlanContent): Map<string, string> {
  return new Map([
    ...content.pages.map(({ id }) => [id, 'page'] as const),
    ...content.decisions.map(({ id }) => [id, 'decision'] as const),
    ...content.phases.map(({ id }) => [id, 'phase'] as const),
    ...content.tasks.map(({ id }) => [id, 'task'] as const),
  ]);
}

function label({ kind, name, id }: PlanItem): string {
  return `The ${kind} ${name.trim() === '' ? id : JSON.stringify(name)}`;
}
