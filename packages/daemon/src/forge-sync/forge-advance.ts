import { fetchBranch } from '@pawl/git/repository/remote';
import { treeOf } from '@pawl/git/merge/merge-step';
import type { Change, Queue } from '@pawl/schema/change';
import { crashPoint } from '@pawl/schema/crash-point';
import { isPassing, PawlError } from '@pawl/schema/error';
import { changeById } from '@pawl/store/changes/changes';
import { checkById } from '@pawl/store/changes/checks';
import { queueOf } from '@pawl/store/changes/queues';
import type { Database } from '@pawl/store/tables';
import type { Advanced } from '../changes/landing/advance.ts';
import { beginAdvance, forgetAdvance, recordMerged } from '../changes/landing/advance.ts';
import { messageOfChange } from '../changes/guard/chain.ts';
import type { ForgeLink } from './forge.ts';
import type { ForgeContext } from './forge-context.ts';
import { rememberOnForge } from './forge-memory.ts';
import { mergeOnForge } from './forge-merge.ts';
import { holdBy, holdForForge } from './forge-settle.ts';
import { noteForgeTrouble } from './forge-trouble.ts';
import { eject } from '../changes/change-eject.ts';

type PlannedAdvance = NonNullable<Queue['advance']>;

/**
 * Lets the forge merge a change, at exactly the head that was checked.
 *   record intent ─▶ the forge merges, or refuses ─▶ record the merge
 * After a crash, `finishOnForge` asks the forge for the outcome. A change that cannot be merged there is held, so that
 * the next one can proceed.
 */
export async function advanceOnForge(
  parts: Omit<ForgeContext, 'link'>,
  link: ForgeLink,
  wanted: PlannedAdvance,
  isStillWanted: (db: Database) => Promise<boolean>,
): Promise<Advanced> {
  const context: ForgeContext = { ...parts, link };
  const [{ id, head } = { id: '', head: '' }] = wanted.changes;
  const change = await changeById(parts.platform.store.db, id);
  if (change?.head !== head) return { is: 'behind' };
  const { forgeRef } = change;
  if (forgeRef === null) {
    await holdForForge(context, change, 'it is not open there yet');
    return { is: 'behind' };
  }
  const begun = { ...wanted, forgeRef };
  if (!(await beginAdvance(parts, begun, isStillWanted))) return { is: 'behind' };
  crashPoint('advance.after_intent');
  try {
    const done = await mergeOnForge(context, change, { ref: forgeRef, message: messageOfChange(change) });
    if (done.is === 'merged') {
      crashPoint('advance.after_push');
      await recordThere(context, begun, done.commit);
      return { is: 'moved' };
    }
    if (done.is === 'held') await holdForForge(context, change, done.reason);
    if (done.is === 'refused') await holdRefused(context, change, done.reason);
    if (done.is === 'conflict') {
      const reason = `it conflicts with ${parts.target.branch} on ${link.forge.name}: ${done.reason}`;
      await eject(parts, change, { kind: 'conflict', reason, files: [], checkId: null });
    }
  } catch (error) {
    // The intent stays: ask if it was merged as soon as the forge answers.
    if (!(error instanceof PawlError)) throw error;
    if (isPassing(error) || error.code === 'unauthorized') {
      noteForgeTrouble(parts.platform, parts.project.id, error.message);
      return { is: 'waiting', reason: error.message, hint: error.hint ?? null };
    }
    await holdRefused(context, change, error.message);
    return { is: 'behind' };
  }
  await forgetAdvance(parts);
  return { is: 'behind' };
}

/** Holds a change that would be merged now if the forge were reachable, so that others are checked meanwhile. */
export async function holdUnreachable(
  { platform }: Pick<ForgeContext, 'platform'>,
  { name, reason }: { name: string; reason: string },
  { changes }: PlannedAdvance,
): Promise<Advanced> {
  for (const { id } of changes) await holdBy(platform, { id, by: name, reason });
  return { is: 'behind' };
}

/** Holds a change that the forge refused to merge, until a retry makes sense. */
async function holdRefused(context: ForgeContext, change: Change, reason: string): Promise<void> {
  const { head } = change;
  const onto = context.target.tip;
  await context.platform.store.write((tx) =>
    rememberOnForge(tx, change.id, { refused: { head, onto, reason, at: tx.now } }),
  );
  await holdForForge(context, change, reason);
}

/** Asks the forge for the outcome of a merge that was interrupted, or whose response was lost. */
export async function finishOnForge(context: ForgeContext): Promise<void> {
  const { platform, project, repository, ownDir, link, target } = context;
  const begun = (await queueOf(platform.store.db, project.id))?.advance ?? null;
  if (begun === null || begun.forgeRef === null) return;
  const there = await viewIfKnown(link, begun.forgeRef);
  const [{ head } = { head: '' }] = begun.changes;
  if (there?.state === 'merged' && there.head === head && there.mergedCommit !== null) {
    await fetchBranch(repository, { ownDir, url: link.url, branch: target.branch });
    return recordThere(context, begun, there.mergedCommit);
  }
  await forgetAdvance(context);
}

async function viewIfKnown({ forge }: ForgeLink, ref: string) {
  try {
    return await forge.view(ref);
  } catch (error) {
    if (error instanceof PawlError && error.code === 'not_found') return null;
    throw error;
  }
}

/** Records a merge on the forge; treats it like a push by someone else unless it is what was checked. */
async function recordThere(context: ForgeContext, begun: PlannedAdvance, commit: string): Promise<void> {
  const { platform, repository, ownDir } = context;
  const check = await checkById(platform.store.db, begun.checkId);
  const isChecked = (await treeOf(repository, ownDir, commit)) === check?.tree;
  return recordMerged(context, { ...begun, to: commit }, isChecked);
}
