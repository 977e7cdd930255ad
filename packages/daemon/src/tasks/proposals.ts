import { applyItems, changesBetween, recordOf, sameRecord, stillEquals } from '@pawl/core/plan/apply-items';
import { checkItems, hasStarted } from '@pawl/core/plan/check-items';
import type { PlanOutput } from '@pawl/core/plan/output-file';
import { cutText, firstLine } from '@pawl/core/shorten';
import { crashPoint } from '@pawl/schema/crash-point';
import { PawlError } from '@pawl/schema/error';
import { newId } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import type {
  Decision,
  Initiative,
  Page,
  Phase,
  PlanContent,
  PlanItem,
  PlanKind,
  Proposal,
} from '@pawl/schema/plan/plan';
import type { Agent, Task } from '@pawl/schema/record';
import { noBudget } from '@pawl/schema/record';
import { initiativeById, insertInitiative } from '@pawl/store/plan/initiatives';
import { deletePlanRecord, planContent, putDecision, putPage, putPhase } from '@pawl/store/plan/plan-records';
import { insertProposal, listProposals, planAgentOf, proposalById, updateProposal } from '@pawl/store/plan/proposals';
import { agentsOfTask, deleteTask, insertTask, taskById, tasksByIds, updateTask } from '@pawl/store/projects/tasks';
import type { Database } from '@pawl/store/tables';
import type { WriteTransaction } from '@pawl/store/write-transaction';

/** The one who decides about a proposal: `person`, or an agent's alias. */
export type Decider = { by: string; agentId: string | null };

/**
 * Records what a planning agent proposes, in the transaction that ends its run. Replaces its earlier proposal if that
 * one is still open.
 */
export async function recordProposal(
  tx: WriteTransaction,
  agent: Agent,
  output: PlanOutput,
  summary: string,
): Promise<void> {
  if (agent.projectId === null || output.items.length + output.complaints.length === 0) return;
  for (const earlier of await listProposals(tx.db, { agentId: agent.id, open: true })) {
    if (sameRecord(earlier.items, output.items) && sameRecord(earlier.complaints, output.complaints)) return;
    const dismissReason = 'its agent replaced it';
    await updateProposal(tx, earlier.id, { dismissedAt: tx.now, dismissReason, decidedBy: agent.alias });
    emit(tx, earlier, 'proposal.dismissed', { by: agent.alias, agentId: agent.id });
  }
  const proposal: Proposal = {
    id: newId(),
    projectId: agent.projectId,
    initiativeId: (await planAgentOf(tx.db, agent.id))?.initiativeId ?? null,
    agentId: agent.id,
    mode: agent.mode,
    summary: cutText(summary, limits.taskSummaryCharacters),
    ...output,
    createdAt: tx.now,
    acceptedAt: null,
    undo: null,
    dismissedAt: null,
    dismissReason: null,
    revertedAt: null,
    decidedBy: null,
  };
  await insertProposal(tx, proposal);
  emit(tx, proposal, 'proposal.made', { by: agent.alias, agentId: agent.id });
}

/** The content of the plan that a proposal changes, and the tasks outside that it depends on. */
async function contentFor(db: Database, proposal: Proposal): Promise<[PlanContent, Map<string, Task>]> {
  const content: PlanContent =
    proposal.initiativeId === null
      ? { pages: [], decisions: [], phases: [], tasks: [] }
      : await planContent(db, proposal.initiativeId);
  return [content, await outsideOf(db, content, proposal.items)];
}

/** Tasks of a project that a plan depends on, or would, and that are not in it. */
async function outsideOf(db: Database, { tasks }: PlanContent, items: readonly PlanItem[]): Promise<Map<string, Task>> {
  const own = new Set([...tasks, ...items].map(({ id }) => id));
  const named = [...tasks, ...items].flatMap(({ dependsOn, ifFailed }) => [...dependsOn, ...ifFailed]);
  const found = await tasksByIds(db, [...new Set(named.filter((id) => !own.has(id)))]);
  return new Map(found.map((task) => [task.id, task]));
}

/** Why some items of a proposal cannot be accepted now; empty if they can. */
export async function problemsOf(db: Database, proposal: Proposal, items: readonly PlanItem[]): Promise<string[]> {
  if (proposal.complaints.length > 0) return proposal.complaints;
  const [content, outside] = await contentFor(db, proposal);
  return checkItems(content, items, outside);
}

/** Accepts a proposal, or the selected items of it. Everything happens in the given transaction. */
export async function acceptProposal(
  tx: WriteTransaction,
  proposalId: string,
  decider: Decider,
  selected?: readonly string[],
): Promise<Proposal> {
  const proposal = await openProposal(tx.db, proposalId);
  const items = selectItems(proposal, selected);
  const problems = await problemsOf(tx.db, proposal, items);
  if (problems.length > 0) {
    throw new PawlError('conflict', `The proposal cannot be accepted: ${problems.join(' ')}`, {
      hint: 'Select other items, edit the plan, or ask its agent for another proposal.',
      details: { problems },
    });
  }
  const initiative = await initiativeFor(tx, proposal);
  crashPoint('plan.after_initiative');
  const before = await planContent(tx.db, initiative.id);
  const place = {
    initiativeId: initiative.id,
    projectId: proposal.projectId,
    now: tx.now,
    createdBy: proposal.agentId,
  };
  const undo = changesBetween(before, applyItems(before, items, place));
  for (const { kind, id, after } of undo) {
    await writeRecord(tx, kind, id, after);
    crashPoint('plan.after_record');
  }
  for (const { kind, id, before: was, after } of undo) {
    if (kind !== 'task' || was !== null || after === null) continue;
    const { name, phase } = after as Task;
    tx.emit({
      type: 'task.added',
      projectId: proposal.projectId,
      agentId: decider.agentId,
      data: { taskId: id, name, phase },
    });
  }
  const decided = { initiativeId: initiative.id, acceptedAt: tx.now, undo, decidedBy: decider.by };
  await updateProposal(tx, proposal.id, decided);
  emit(tx, { ...proposal, ...decided }, 'proposal.accepted', decider);
  tx.emit({ type: 'plan.edited', projectId: proposal.projectId, data: { planId: initiative.id } });
  crashPoint('plan.before_commit');
  return { ...proposal, ...decided };
}

export async function dismissProposal(
  tx: WriteTransaction,
  proposalId: string,
  decider: Decider,
  reason: string,
): Promise<void> {
  const proposal = await openProposal(tx.db, proposalId);
  const dismissReason = cutText(reason, limits.taskSummaryCharacters);
  await updateProposal(tx, proposal.id, { dismissedAt: tx.now, dismissReason, decidedBy: decider.by });
  emit(tx, proposal, 'proposal.dismissed', decider);
}

/** Restores what an accepted proposal has changed, exactly; refuses if something has happened to it since. */
export async function revertProposal(tx: WriteTransaction, proposalId: string, decider: Decider): Promise<void> {
  const proposal = await requiredProposal(tx.db, proposalId);
  const { initiativeId, undo } = proposal;
  if (proposal.revertedAt !== null) throw new PawlError('conflict', 'The proposal is reverted already.');
  if (undo === null || initiativeId === null)
    throw new PawlError('conflict', 'The proposal was not accepted, so there is nothing to revert.');
  const now = await planContent(tx.db, initiativeId);
  for (const { kind, id, before, after } of undo) {
    const current = recordOf(now, kind, id);
    if (kind === 'task') await refuseStarted(tx.db, id);
    if (!stillEquals(current, after)) {
      throw new PawlError('conflict', `The ${kind} ${nameOf(after ?? before)} was changed since then.`, {
        hint: 'Edit the plan by hand instead.',
      });
    }
  }
  const restored = changesBetween(now, undone(now, undo));
  const dangling = checkDangling(undone(now, undo));
  if (dangling !== null) throw new PawlError('conflict', dangling, { hint: 'Revert the later proposal first.' });
  for (const { kind, id, after } of restored) {
    await writeRecord(tx, kind, id, after);
    crashPoint('plan.after_undo');
  }
  await updateProposal(tx, proposal.id, { revertedAt: tx.now, decidedBy: decider.by });
  emit(tx, proposal, 'proposal.reverted', decider);
  tx.emit({ type: 'plan.edited', projectId: proposal.projectId, data: { planId: initiativeId } });
}

/** A plan without the changes of a proposal. */
function undone(now: PlanContent, undo: NonNullable<Proposal['undo']>): PlanContent {
  const of = <Kept extends { id: string }>(kind: PlanKind, records: readonly Kept[]): Kept[] => {
    const byId = new Map(records.map((record) => [record.id, record]));
    for (const each of undo.filter((one) => one.kind === kind)) {
      if (each.before === null) byId.delete(each.id);
      else byId.set(each.id, each.before as Kept);
    }
    return [...byId.values()];
  };
  return {
    pages: of('page', now.pages),
    decisions: of('decision', now.decisions),
    phases: of('phase', now.phases),
    tasks: of('task', now.tasks),
  };
}

/** Names a record that would point to one that is gone. */
function checkDangling({ phases, tasks, pages }: PlanContent): string | null {
  const phaseIds = new Set(phases.map(({ id }) => id));
  const pageIds = new Set(pages.map(({ id }) => id));
  const lost = tasks.find(({ phaseId }) => phaseId !== null && !phaseIds.has(phaseId));
  if (lost !== undefined) return `The task ${lost.name} would lose its phase.`;
  const phase = phases.find(({ dependsOn }) => dependsOn.some((id) => !phaseIds.has(id)));
  if (phase !== undefined) return `The phase ${phase.name} would wait for one that is gone.`;
  const page = pages.find(({ parentId }) => parentId !== null && !pageIds.has(parentId));
  return page === undefined ? null : `The page ${page.title} would lose the page above it.`;
}

async function refuseStarted(db: Database, taskId: string): Promise<void> {
  const task = await taskById(db, taskId);
  if (task === null || (!hasStarted(task) && (await agentsOfTask(db, taskId)).length === 0)) return;
  throw new PawlError('conflict', `Work on the task ${task.name} has started.`, {
    hint: 'Cancel what is left with `pawl task cancel`, or plan the way back as a task.',
  });
}

export async function requiredProposal(db: Database, id: string): Promise<Proposal> {
  const proposal = await proposalById(db, id);
  if (proposal === null) throw new PawlError('not_found', `There is no proposal ${id}.`);
  return proposal;
}

async function openProposal(db: Database, id: string): Promise<Proposal> {
  const proposal = await requiredProposal(db, id);
  if (proposal.acceptedAt !== null) throw new PawlError('conflict', 'The proposal is accepted already.');
  if (proposal.dismissedAt !== null) throw new PawlError('conflict', 'The proposal was dismissed.');
  return proposal;
}

/** The items with these ids, or starts of ids, or names; all without a selection. */
function selectItems({ items }: Proposal, selected: readonly string[] | undefined): PlanItem[] {
  if (selected === undefined) return items;
  const found = selected.flatMap((word) => {
    const matches = items.filter(
      ({ id, name }) => id === word || name === word || (word.length >= 4 && id.startsWith(word)),
    );
    if (matches.length === 1) return matches;
    const kind = matches.length === 0 ? 'no item' : 'several items';
    throw new PawlError('invalid_input', `${JSON.stringify(word)} names ${kind} of the proposal.`);
  });
  return items.filter((item) => found.includes(item));
}

/** The plan that a proposal belongs to; a new one if its agent worked for none. */
async function initiativeFor(tx: WriteTransaction, proposal: Proposal): Promise<Initiative> {
  const known = proposal.initiativeId === null ? null : await initiativeById(tx.db, proposal.initiativeId);
  if (known !== null) return known;
  const name = firstLine(proposal.summary, limits.taskNameCharacters) || `proposal ${proposal.id.slice(0, 6)}`;
  const initiative: Initiative = {
    id: newId(),
    projectId: proposal.projectId,
    name,
    mode: 'review',
    budget: noBudget,
    createdBy: proposal.agentId,
    createdAt: tx.now,
    approvedVersion: null,
    approvedAt: null,
    launch: null,
    launchedAt: null,
    pausedAt: null,
    archivedAt: null,
    branch: null,
  };
  await insertInitiative(tx, initiative);
  tx.emit({ type: 'plan.started', projectId: initiative.projectId, data: { planId: initiative.id, name } });
  return initiative;
}

/** Puts a record of a plan in place, or removes it. */
async function writeRecord(tx: WriteTransaction, kind: PlanKind, id: string, record: unknown): Promise<void> {
  switch (kind) {
    case 'page':
      return record === null ? deletePlanRecord(tx, 'pages', id) : putPage(tx, record as Page);
    case 'decision':
      return record === null ? deletePlanRecord(tx, 'decisions', id) : putDecision(tx, record as Decision);
    case 'phase':
      return record === null ? deletePlanRecord(tx, 'phases', id) : putPhase(tx, record as Phase);
    case 'task': {
      if (record === null) return deleteTask(tx, id);
      if ((await taskById(tx.db, id)) === null) return insertTask(tx, record as Task);
      const { name, phase, description, dependsOn, ifFailed, files, priority, phaseId } = record as Task;
      return updateTask(tx, id, { name, phase, description, dependsOn, ifFailed, files, priority, phaseId });
    }
  }
}

function nameOf(record: unknown): string {
  const { name, title, topic } = (record ?? {}) as Record<string, string | undefined>;
  return name ?? title ?? topic ?? '';
}

type ProposalEvent = 'proposal.made' | 'proposal.accepted' | 'proposal.dismissed' | 'proposal.reverted';

function emit(tx: WriteTransaction, proposal: Proposal, type: ProposalEvent, { by, agentId }: Decider): void {
  const { id, projectId, initiativeId } = proposal;
  tx.emit({ type, projectId, agentId, data: { proposalId: id, planId: initiativeId, by } });
}
