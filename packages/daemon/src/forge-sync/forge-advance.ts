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
import type { ForgeBench } from './forge-bench.ts';
import { rememberOnForge } from './forge-memory.ts';
import { mergeOnForge } from './forge-merge.ts';
import { holdBy, holdForForge } from './forge-settle.ts';
import { noteForgeTrouble } from './forge-trouble.ts';
import { eject } from '../changes/change-eject.ts';

type Advance = NonNullable<Queue['advance']>;

/**
 * Lets the forge merge a change, at the very head that was checked.
 *
 *   intent on record ─▶ the forge merges, or does not ─▶ the change is merged, on record
 *
 * Cut short, `finishOnForge` asks the forge what came of it. A change that cannot be merged there is held, so that the next
 * one goes on.
 */
export async function advanceOnForge(
  parts: Omit<ForgeBench, 'link'>,
  link: ForgeLink,
  wanted: Advance,
  isStillWanted: (db: Database) => Promise<boolean>,
): Promise<Advanced> {
  const bench: ForgeBench = { ...parts, link };
  const [{ id, head } = { id: '', head: '' }] = wanted.changes;
  const change = await changeById(parts.platform.store.db, id);
  if (change?.head !== head) return { is: 'behind' };
  const { forgeRef } = change;
  if (forgeRef === null) {
    await holdForForge(bench, change, 'it is not open there yet');
    return { is: 'behind' };
  }
  const begun = { ...wanted, forgeRef };
  if (!(await beginAdvance(parts, begun, isStillWanted))) return { is: 'behind' };
  crashPoint('advance.after_intent');
  try {
    const done = await mergeOnForge(bench, change, { ref: forgeRef, message: messageOfChange(change) });
    if (done.is === 'merged') {
      crashPoint('advance.after_push');
      await recordThere(bench, begun, done.commit);
      return { is: 'moved' };
    }
    if (done.is === 'held') await holdForForge(bench, change, done.reason);
    if (done.is === 'refused') await holdRefused(bench, change, done.reason);
    if (done.is === 'conflict') {
      const reason = `it conflicts with ${parts.target.branch} on ${link.forge.name}: ${done.reason}`;
      await eject(parts, change, { kind: 'conflict', reason, files: [], checkId: null });
    }
  } catch (error) {
    // The intent stays: whether it was merged is asked as soon as the forge answers.
    if (!(error instanceof PawlError)) throw error;
    if (isPassing(error) || error.code === 'unauthorized') {
      noteForgeTrouble(parts.platform, parts.project.id, error.message);
      return { is: 'waiting', reason: error.message, hint: error.hint ?? null };
    }
    await holdRefused(bench, change, error.message);
    return { is: 'behind' };
  }
  await forgetAdvance(parts);
  return { is: 'behind' };
}

/** Holds what would go in now if the forge could be reached: so the others are checked meanwhile. */
export async function holdUnreachable(
  { platform }: Pick<ForgeBench, 'platform'>,
  { name, reason }: { name: string; reason: string },
  { changes }: Advance,
): Promise<Advanced> {
  for (const { id } of changes) await holdBy(platform, { id, by: name, reason });
  return { is: 'behind' };
}

/** Holds what the forge did not merge, until it is worth another attempt. */
async function holdRefused(bench: ForgeBench, change: Change, reason: string): Promise<void> {
  const { head } = change;
  const onto = bench.target.tip;
  await bench.platform.store.write((tx) =>
    rememberOnForge(tx, change.id, { refused: { head, onto, reason, at: tx.now } }),
  );
  await holdForForge(bench, change, reason);
}

/** Asks the forge what came of a merge that was cut short, or whose answer was lost. */
export async function finishOnForge(bench: ForgeBench): Promise<void> {
  const { platform, project, repository, ownDir, link, target } = bench;
  const begun = (await queueOf(platform.store.db, project.id))?.advance ?? null;
  if (begun === null || begun.forgeRef === null) return;
  const there = await viewIfKnown(link, begun.forgeRef);
  const [{ head } = { head: '' }] = begun.changes;
  if (there?.state === 'merged' && there.head === head && there.mergedCommit !== null) {
    await fetchBranch(repository, { ownDir, url: link.url, branch: target.branch });
    return recordThere(bench, begun, there.mergedCommit);
  }
  await forgetAdvance(bench);
}

async function viewIfKnown({ forge }: ForgeLink, ref: string) {
  try {
    return await forge.view(ref);
  } catch (error) {
    if (error instanceof PawlError && error.code === 'not_found') return null;
    throw error;
  }
}

/** What the forge has made of a change is looked at as somebody else's push is, unless it is what was checked. */
async function recordThere(bench: ForgeBench, begun: Advance, commit: string): Promise<void> {
  const { platform, repository, ownDir } = bench;
  const check = await checkById(platform.store.db, begun.checkId);
  const isChecked = (await treeOf(repository, ownDir, commit)) === check?.tree;
  return recordMerged(bench, { ...begun, to: commit }, isChecked);
}
