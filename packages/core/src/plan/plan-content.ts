import type { PlanContent } from '@pawl/schema/plan/plan';

/**
 * The canonical text of a plan: equal for equal plans, whatever the order of their rows. An approval is bound to its
 * hash. Priorities, results, reviews and the revisions that they request are no part of it. With `covered`, leaves out tasks that agents found later: they
 * wait for the next approval and do not end this one.
 */
export function contentText(content: PlanContent, covered?: ReadonlySet<string>): string {
  const tasks = content.tasks.filter(
    ({ id, cancelledAt, foundWhile, revises }) =>
      cancelledAt === null && revises === null && (covered === undefined || foundWhile === null || covered.has(id)),
  );
  return JSON.stringify({
    pages: content.pages.map(({ id, parentId, title, text }) => [id, parentId, title, text]).toSorted(byId),
    decisions: content.decisions.map(({ id, topic, decision, text }) => [id, topic, decision, text]).toSorted(byId),
    phases: content.phases
      .map(({ id, name, text, files, dependsOn, isIntegration }) => [
        id,
        name,
        text,
        files,
        dependsOn.toSorted(),
        isIntegration,
      ])
      .toSorted(byId),
    tasks: tasks
      .map(({ id, phaseId, name, description, files, dependsOn, ifFailed }) => [
        id,
        phaseId,
        name,
        description,
        files,
        dependsOn.toSorted(),
        ifFailed.toSorted(),
      ])
      .toSorted(byId),
  });
}

function byId([one]: readonly unknown[], [other]: readonly unknown[]): number {
  return String(one) < String(other) ? -1 : 1;
}
