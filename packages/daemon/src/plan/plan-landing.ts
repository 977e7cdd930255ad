import { isOver } from '@pawl/core/changes/change-life';
import { readPlan } from '@pawl/core/plan/plan-reading';
import type { PlanLanding } from '@pawl/protocol/plan/plan-view';
import { exportCommits } from '@pawl/git/merge/queue-objects';
import { undoWork } from '@pawl/git/merge/undo';
import { createBranchAt } from '@pawl/git/repository/branch';
import type { Change } from '@pawl/schema/change';
import { crashPoint } from '@pawl/schema/crash-point';
import { PawlError } from '@pawl/schema/error';
import type { Initiative, PhaseWork, PlanContent } from '@pawl/schema/plan/plan';
import type { Project, Task } from '@pawl/schema/record';
import { lastChangeOf } from '@pawl/store/changes/change-search';
import { changesOfTask } from '@pawl/store/changes/changes';
import { projectById } from '@pawl/store/projects/projects';
import type { SessionPlatform } from '../accounts/session-platform.ts';
import { openChange } from '../changes/change-open.ts';
import { mergeChange } from '../changes/change-verbs.ts';
import { mergeRules } from '../changes/merge-rules.ts';
import { targetCommit } from '../project-config/base-commit.ts';
import { projectRules } from '../project-config/project-rules.ts';
import { planFacts, requiredPlan } from '../tasks/plan-facts.ts';
import { beforeMerge, workHash } from './phase-work.ts';

const person = { is: 'person' } as const;

/**
 * Asks the queue to merge the work of a plan: its branch as one change, or the changes of its tasks that wait for a
 * person. Asking twice does it once.
 */
export async function landPlan(platform: SessionPlatform, planId: string): Promise<PlanLanding> {
  const { db } = platform.store;
  const initiative = await requiredPlan(db, planId);
  const project = await requiredProject(platform, initiative);
  const changes =
    initiative.branch === null
      ? await openChangesOf(platform, (await planFacts(db, initiative)).content.tasks)
      : [await proposeBranch(platform, project, initiative)];
  if (changes.length === 0) {
    throw new PawlError('conflict', `No change of the plan ${initiative.name} waits to be merged.`, {
      hint: `See its tasks: pawl plan show ${planId.slice(0, 6)}`,
    });
  }
  crashPoint('land.after_change');
  const rules = await mergeRules(platform, project);
  for (const { id: changeId } of changes)
    await mergeChange(platform, { asker: person, changeId, rules: { ...rules, remote: rules.remote?.name ?? null } });
  return { planId, changes: changes.map(shown) };
}

/** Proposes the branches of plans in mode `auto` whose work is over; the queue's own rules decide the rest. */
export async function proposeBranches(
  platform: SessionPlatform,
  project: Project,
  plans: readonly Initiative[],
): Promise<void> {
  for (const initiative of plans) {
    if (initiative.branch === null || initiative.mode !== 'auto' || initiative.launchedAt === null) continue;
    const facts = await planFacts(platform.store.db, initiative);
    if (facts.branch === null || facts.branch.isLanded || facts.branch.changeId !== null) continue;
    // A person who closed its change decides what happens next.
    if ((await lastChangeOf(platform.store.db, project.id, { agentId: null, branch: initiative.branch })) !== null)
      continue;
    if (isWorkOver(facts)) await proposeBranch(platform, project, initiative);
  }
}

const isWorkOver = (facts: Parameters<typeof readPlan>[0]) => readPlan(facts).initiative.state === 'in_review';

async function proposeBranch(platform: SessionPlatform, project: Project, initiative: Initiative): Promise<Change> {
  const facts = await planFacts(platform.store.db, initiative);
  const { phases, tasks } = readPlan(facts);
  const open = facts.content.phases.find(({ id }) => phases.get(id)?.state !== 'completed');
  const task = facts.content.tasks.find(
    ({ id }) => !['completed', 'cancelled', 'skipped'].includes(tasks.get(id)?.state ?? ''),
  );
  if (open !== undefined || task !== undefined) {
    const what = open === undefined ? `task ${task?.name}` : `phase ${open.name}`;
    throw new PawlError('conflict', `The ${what} is not over.`, {
      hint: `See why: pawl plan show ${initiative.id.slice(0, 6)}`,
    });
  }
  const request = { asker: person, project, branch: initiative.branch ?? '', title: initiative.name };
  const { change } = await openChange(platform, request);
  return change;
}

async function openChangesOf(platform: SessionPlatform, tasks: readonly Task[]): Promise<Change[]> {
  const open: Change[] = [];
  for (const task of tasks)
    for (const change of await changesOfTask(platform.store.db, task.id)) if (!isOver(change)) open.push(change);
  return open;
}

/**
 * Proposes a change that undoes landed work: of the whole plan, of a phase, or of a task. It goes through the same checks
 * as every change.
 */
export async function revertPlan(
  platform: SessionPlatform,
  planId: string,
  of: string | undefined,
): Promise<PlanLanding> {
  const { db } = platform.store;
  const initiative = await requiredPlan(db, planId);
  const project = await requiredProject(platform, initiative);
  const rules = await projectRules(platform, project);
  const { content } = await planFacts(db, initiative);
  const landed: (PhaseWork & { name: string; at: number })[] = [];
  const add = async (taskId: string, name: string, change: Change) => {
    if (change.mergedCommit === null) return;
    const from = await beforeMerge(rules, change);
    landed.push({ taskId, name, from, to: change.mergedCommit, at: change.mergedAt ?? 0 });
  };
  if (initiative.branch === null) {
    for (const task of tasksMeant(content, of))
      for (const change of await changesOfTask(db, task.id)) await add(task.id, task.name, change);
  } else {
    if (of !== undefined)
      throw new PawlError('invalid_input', 'A plan with a branch landed as a whole, and is reverted as a whole.');
    const change = await lastChangeOf(db, project.id, { agentId: null, branch: initiative.branch });
    if (change !== null) await add(initiative.id, initiative.name, change);
  }
  if (landed.length === 0) throw new PawlError('conflict', 'Nothing of it has landed, so there is nothing to revert.');
  const { repository, ownDir } = rules;
  const start = await targetCommit(platform, project, repository);
  let tip = start;
  for (const { name, from, to } of landed.toSorted((one, other) => other.at - one.at)) {
    const message = `Revert "${name}"\n\nThis undoes ${to}.\n`;
    const undone = await undoWork(repository, { ownDir, tip, from, to, message, atMs: platform.clock() });
    if (undone.do === 'conflict') {
      throw new PawlError('conflict', `Later work changed the same lines as ${name}: ${undone.files.join(', ')}.`, {
        hint: 'Revert the later work first, or undo it by hand.',
        details: { files: undone.files },
      });
    }
    tip = undone.commit;
  }
  if (tip === start) throw new PawlError('conflict', 'Main has nothing of it any more.');
  await exportCommits(repository, ownDir, { tip, not: [start] });
  const branch = `revert/${planId.slice(0, 6)}-${workHash([...landed, { taskId: start, from: '', to: '' }]).slice(0, 8)}`;
  await createBranchAt(repository, { branch, commit: tip });
  crashPoint('revert.after_branch');
  const title = `Revert ${of ?? initiative.name}`;
  const { change } = await openChange(platform, { asker: person, project, branch, title });
  return { planId, changes: [shown(change)] };
}

/** The tasks of the phase, or the task, that a word names; all of them without one. */
function tasksMeant({ phases, tasks }: PlanContent, word: string | undefined): Task[] {
  if (word === undefined) return tasks;
  const isMeant = ({ id, name }: { id: string; name: string }) =>
    id === word || name === word || (word.length >= 4 && id.startsWith(word));
  const phaseIds = phases.filter(isMeant).map(({ id }) => id);
  const found = tasks.filter((task) => isMeant(task) || phaseIds.includes(task.phaseId ?? ''));
  if (found.length > 0) return found;
  throw new PawlError('not_found', `${JSON.stringify(word)} names no phase and no task of the plan.`);
}

async function requiredProject(platform: SessionPlatform, { projectId }: Initiative): Promise<Project> {
  const project = await projectById(platform.store.db, projectId);
  if (project === null) throw new PawlError('project_not_found', 'The project of the plan is gone.');
  return project;
}

const shown = ({ id, title, branch }: Change) => ({ id, title, branch });
