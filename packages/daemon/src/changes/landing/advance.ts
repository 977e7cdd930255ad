import { advanceBranch, finishAdvance } from '@pawl/git/merge/advance';
import { isAncestor } from '@pawl/git/merge/merge-step';
import { exportCommits } from '@pawl/git/merge/queue-objects';
import { pushCommit } from '@pawl/git/repository/remote';
import type { Repository } from '@pawl/git/repository/repository';
import type { Change, Queue } from '@pawl/schema/change';
import { crashPoint } from '@pawl/schema/crash-point';
import { PawlError } from '@pawl/schema/error';
import type { Project } from '@pawl/schema/record';
import { changeById, updateChange } from '@pawl/store/changes/changes';
import { checkById } from '@pawl/store/changes/checks';
import { updateQueue } from '@pawl/store/changes/queues';
import type { Database } from '@pawl/store/tables';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import type { DefinitionPlatform } from '../../definitions/definition-platform.ts';
import { noteMerged } from '../notices.ts';
import type { Target } from '../../project-config/target.ts';

type PlannedAdvance = NonNullable<Queue['advance']>;

/** The context in which the target branch is moved. */
export type LandingContext = {
  platform: DefinitionPlatform;
  project: Project;
  repository: Repository;
  ownDir: string;
  target: Target;
};

/** `moved`: main is there. `behind`: main was moved by someone else. `waiting`: blocked, with the reason. */
export type Advanced = { is: 'moved' } | { is: 'behind' } | { is: 'waiting'; reason: string; hint: string | null };

/**
 * Moves the target branch to a checked commit, if it has not moved meanwhile.
 *   record intent ─▶ export objects ─▶ move the ref once, by compare-and-set ─▶ record the merges
 * After a crash, `finishBegun` completes it or finds that nothing has changed.
 */
export async function advance(
  context: LandingContext,
  wanted: PlannedAdvance,
  isStillWanted: (db: Database) => Promise<boolean>,
): Promise<Advanced> {
  if (!(await beginAdvance(context, wanted, isStillWanted))) return { is: 'behind' };
  crashPoint('advance.after_intent');
  try {
    if (await move(context, wanted)) {
      await recordMerged(context, wanted);
      return { is: 'moved' };
    }
  } catch (error) {
    // Something of the person's is in the way, or the remote is unreachable: both may pass.
    if (!(error instanceof PawlError)) throw error;
    if (!mayHaveMoved(context, error)) await forgetAdvance(context);
    return { is: 'waiting', reason: error.message, hint: error.hint ?? null };
  }
  await forgetAdvance(context);
  return { is: 'behind' };
}

/** Records the intent. False if a change was held or withdrawn since the check. */
export async function beginAdvance(
  { platform, project }: LandingContext,
  wanted: PlannedAdvance,
  isStillWanted: (db: Database) => Promise<boolean>,
): Promise<boolean> {
  return platform.store.write(async (tx) => {
    if (!(await isStillWanted(tx.db))) return false;
    await updateQueue(tx, project.id, { advance: wanted });
    return true;
  });
}

export async function forgetAdvance({ platform, project }: LandingContext): Promise<void> {
  await platform.store.write((tx) => updateQueue(tx, project.id, { advance: null }));
}

/** True if a push whose response was lost may have arrived: the next fetch will tell. */
function mayHaveMoved({ target }: LandingContext, { code }: PawlError): boolean {
  return target.remote !== null && code !== 'forbidden' && code !== 'conflict';
}

/** Completes an interrupted advance. Returns false if nothing had changed yet. */
export async function finishBegun(context: LandingContext, begun: PlannedAdvance): Promise<boolean> {
  const { platform, repository, ownDir, target } = context;
  // Ask the forge about merges that it was asked to do.
  if (begun.forgeRef !== null) return false;
  if (!(await isAncestor(repository, ownDir, begun.to, target.tip))) {
    await forgetAdvance(context);
    return false;
  }
  if (target.remote === null) {
    const { from, to } = begun;
    if (!(await finishAdvance(repository, { ownDir, branch: target.branch, from, to }))) {
      platform.log.warn({ branch: target.branch }, 'failed to update the files of a checkout; run git status there');
    }
  }
  await recordMerged(context, begun);
  return true;
}

async function move(context: LandingContext, { from, to }: PlannedAdvance): Promise<boolean> {
  const { repository, ownDir, target } = context;
  const { branch, remote } = target;
  if (remote !== null) {
    if ((await pushCommit(repository, { ownDir, url: remote.url, branch, from, to })) === 'behind') return false;
    crashPoint('advance.after_push');
    return true;
  }
  await exportCommits(repository, ownDir, { tip: to, not: [from] });
  crashPoint('advance.after_objects');
  const note = 'pawl: checked and merged';
  const isMoved = await advanceBranch(repository, { ownDir, branch, from, to, note, crashPoint: 'advance.after_ref' });
  // Export again, since the person's git may have pruned commits without a ref.
  if (isMoved) await exportCommits(repository, ownDir, { tip: to, not: [from] });
  return isMoved;
}

/** Completes an advance: marks all its changes merged and records main's commit, in one transaction. */
export async function recordMerged(
  { platform, project, target }: LandingContext,
  done: PlannedAdvance,
  isChecked = true,
): Promise<void> {
  const { from, to, checkId } = done;
  await platform.store.write(async (tx) => {
    const merged: Change[] = [];
    for (const { id, head } of done.changes) {
      const change = await changeById(tx.db, id);
      if (change === null || change.mergedAt !== null) continue;
      await updateChange(tx, id, { mergedAt: tx.now, mergedCommit: to, head });
      const data = { changeId: id, head, commit: to };
      tx.emit({ type: 'change.merged', projectId: project.id, agentId: change.agentId, data });
      merged.push(change);
    }
    const changes = done.changes.map(({ id }) => id);
    tx.emit({ type: 'main.advanced', projectId: project.id, data: { branch: target.branch, from, to, changes } });
    if (isChecked) await noteGreen(tx, project.id, to, checkId);
    await updateQueue(tx, project.id, { advance: null, waiting: null, seen: to });
    await noteMerged(tx, { platform, project, changes: merged, commit: to });
  });
  crashPoint('advance.after_record');
}

async function noteGreen(tx: WriteTransaction, projectId: string, commit: string, checkId: string): Promise<void> {
  const check = await checkById(tx.db, checkId);
  await updateQueue(tx, projectId, { green: commit, counts: check?.counts ?? null });
}
