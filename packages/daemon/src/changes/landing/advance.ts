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

type Advance = NonNullable<Queue['advance']>;

/** What an advance works with. */
export type Bench = {
  platform: DefinitionPlatform;
  project: Project;
  repository: Repository;
  ownDir: string;
  target: Target;
};

/** `moved`: main is there. `behind`: somebody else has moved it meanwhile. Anything else is what it waits for. */
export type Advanced = { is: 'moved' } | { is: 'behind' } | { is: 'waiting'; reason: string; hint: string | null };

/**
 * Moves the target branch to a commit that was checked, if it is still where it was.
 *
 *   intent on record ─▶ objects are there ─▶ the ref moves, once, by compare-and-set ─▶ changes are merged, on record
 *
 * Cut short anywhere, `finishBegun` finishes it or finds that nothing has changed.
 */
export async function advance(
  bench: Bench,
  wanted: Advance,
  isStillWanted: (db: Database) => Promise<boolean>,
): Promise<Advanced> {
  if (!(await beginAdvance(bench, wanted, isStillWanted))) return { is: 'behind' };
  crashPoint('advance.after_intent');
  try {
    if (await move(bench, wanted)) {
      await recordMerged(bench, wanted);
      return { is: 'moved' };
    }
  } catch (error) {
    // Something of the person's is in the way, or a remote cannot be reached: that may pass.
    if (!(error instanceof PawlError)) throw error;
    if (!mayHaveMoved(bench, error)) await forgetAdvance(bench);
    return { is: 'waiting', reason: error.message, hint: error.hint ?? null };
  }
  await forgetAdvance(bench);
  return { is: 'behind' };
}

/** Puts on record what is about to go in. False when somebody has held or withdrawn it since it was looked at. */
export async function beginAdvance(
  { platform, project }: Bench,
  wanted: Advance,
  isStillWanted: (db: Database) => Promise<boolean>,
): Promise<boolean> {
  return platform.store.write(async (tx) => {
    if (!(await isStillWanted(tx.db))) return false;
    await updateQueue(tx, project.id, { advance: wanted });
    return true;
  });
}

/** Nothing goes in after all. */
export async function forgetAdvance({ platform, project }: Bench): Promise<void> {
  await platform.store.write((tx) => updateQueue(tx, project.id, { advance: null }));
}

/** A push whose answer was lost may have arrived: the next look at the remote says so. */
function mayHaveMoved({ target }: Bench, { code }: PawlError): boolean {
  return target.remote !== null && code !== 'forbidden' && code !== 'conflict';
}

/** Finishes an advance that was cut short. Returns false when nothing had changed yet. */
export async function finishBegun(bench: Bench, begun: Advance): Promise<boolean> {
  const { platform, repository, ownDir, target } = bench;
  // What a forge was asked to merge is asked there.
  if (begun.forgeRef !== null) return false;
  if (!(await isAncestor(repository, ownDir, begun.to, target.tip))) {
    await forgetAdvance(bench);
    return false;
  }
  if (target.remote === null) {
    const { from, to } = begun;
    if (!(await finishAdvance(repository, { ownDir, branch: target.branch, from, to }))) {
      platform.log.warn(
        { branch: target.branch },
        'the files of a checkout could not follow; look at git status there',
      );
    }
  }
  await recordMerged(bench, begun);
  return true;
}

async function move(bench: Bench, { from, to }: Advance): Promise<boolean> {
  const { repository, ownDir, target } = bench;
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
  // What the person's git may have pruned, as long as no ref led to it, is brought once more.
  if (isMoved) await exportCommits(repository, ownDir, { tip: to, not: [from] });
  return isMoved;
}

/** The end of an advance: every change that went in is merged, and main is where it is, in one transaction. */
export async function recordMerged(
  { platform, project, target }: Bench,
  done: Advance,
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
