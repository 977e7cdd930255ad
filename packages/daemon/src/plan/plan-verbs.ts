import { approvalOf, usualAgents } from '@pawl/core/plan/plan-reading';
import { stagePlan } from '@pawl/core/plan/stage';
import type { ApprovePlanBody, LaunchPlanBody } from '@pawl/protocol/plan/plan-view';
import { crashPoint } from '@pawl/schema/crash-point';
import { PawlError } from '@pawl/schema/error';
import type { Initiative, Launch } from '@pawl/schema/plan/plan';
import { insertPlanVersion, planVersion, updateInitiative } from '@pawl/store/plan/initiatives';
import type { Store } from '@pawl/store/store';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import { contentHash, planFacts, requiredPlan } from '../tasks/plan-facts.ts';

/**
 * Approves the content of a plan as it is now. Errors refuse, warnings have to be accepted, and a hash that is not the
 * content's is a conflict: what runs is what was reviewed.
 */
export async function approvePlan(store: Store, id: string, { hash, acceptWarnings }: ApprovePlanBody): Promise<void> {
  await store.write(async (tx) => {
    const initiative = await openPlan(tx, id);
    const { content, outside } = await planFacts(tx.db, initiative);
    const now = contentHash(content);
    if (hash !== undefined && !now.startsWith(hash)) {
      throw new PawlError('conflict', 'The plan has changed since you looked at it.', {
        hint: `Look at it again: pawl plan show ${id.slice(0, 6)}`,
        details: { hash: now },
      });
    }
    const { errors, warnings } = stagePlan(content, outside);
    if (errors.length > 0)
      throw new PawlError('conflict', `The plan cannot be approved. ${errors.join(' ')}`, { details: { errors } });
    if (warnings.length > 0 && acceptWarnings !== true) {
      throw new PawlError('conflict', `The plan has warnings. ${warnings.join(' ')}`, {
        hint: 'Change the plan, or approve it with --accept-warnings.',
        details: { warnings },
      });
    }
    const number = ((await planVersion(tx.db, id))?.number ?? 0) + 1;
    const taskIds = content.tasks.map((task) => task.id);
    await insertPlanVersion(tx, {
      initiativeId: id,
      number,
      hash: now,
      taskIds,
      createdAt: tx.now,
      createdBy: 'person',
    });
    crashPoint('approve.after_version');
    await updateInitiative(tx, id, { approvedVersion: number, approvedAt: tx.now });
    tx.emit({
      type: 'plan.approved',
      projectId: initiative.projectId,
      data: { planId: id, version: number, hash: now },
    });
  });
}

/** Launches an approved plan: its first wave starts, as far as there are places. */
export async function launchPlan(
  store: Store,
  id: string,
  body: LaunchPlanBody,
  chosen: Pick<Launch, 'provider' | 'accountId' | 'environment'>,
): Promise<void> {
  await store.write(async (tx) => {
    const initiative = await openPlan(tx, id);
    const approval = approvalOf(await planFacts(tx.db, initiative));
    if (approval !== 'valid') {
      const why = approval === 'none' ? 'is not approved' : 'was edited after its approval';
      throw new PawlError('conflict', `The plan ${initiative.name} ${why}.`, {
        hint: `Approve it first: pawl plan approve ${id.slice(0, 6)}`,
      });
    }
    const launch = {
      definition: body.definition ?? null,
      model: body.model ?? null,
      options: body.options ?? {},
      ...chosen,
      agents: body.agents ?? usualAgents,
    };
    await updateInitiative(tx, id, { launch, launchedAt: initiative.launchedAt ?? tx.now, pausedAt: null });
    tx.emit({ type: 'plan.launched', projectId: initiative.projectId, data: { planId: id } });
  });
  crashPoint('launch.after_record');
}

/** Pauses, resumes or archives a plan. Agents that work finish their tasks; nothing else starts. */
export async function changePlan(store: Store, id: string, verb: 'pause' | 'resume' | 'archive'): Promise<void> {
  await store.write(async (tx) => {
    const { pausedAt, projectId } = await openPlan(tx, id);
    const data = { planId: id };
    if (verb === 'archive') {
      await updateInitiative(tx, id, { archivedAt: tx.now });
      return tx.emit({ type: 'plan.archived', projectId, data });
    }
    if ((pausedAt !== null) === (verb === 'pause')) return;
    await updateInitiative(tx, id, { pausedAt: verb === 'pause' ? tx.now : null });
    tx.emit({ type: verb === 'pause' ? 'plan.paused' : 'plan.resumed', projectId, data });
  });
}

async function openPlan(tx: WriteTransaction, id: string): Promise<Initiative> {
  const initiative = await requiredPlan(tx.db, id);
  if (initiative.archivedAt !== null) throw new PawlError('conflict', `The plan ${initiative.name} is archived.`);
  return initiative;
}
