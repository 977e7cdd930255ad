import { droppedDetail } from '@pawl/core/changes/diverged';
import { gateLimits } from '@pawl/core/guard/gate-limit';
import { cutText } from '@pawl/core/shorten';
import type { NamedCommit } from '@pawl/git/repository/dropped';
import { droppedCommits } from '@pawl/git/repository/dropped';
import { isAncestor } from '@pawl/git/merge/merge-step';
import { hasCommit, importCommits } from '@pawl/git/merge/queue-objects';
import { branchTip, type Repository } from '@pawl/git/repository/repository';
import { listWorktrees } from '@pawl/git/worktree/worktree-list';
import type { Change, Finding } from '@pawl/schema/change';
import { openChanges, updateChange } from '@pawl/store/changes/changes';
import { json, text } from '@pawl/store/facts/fact-column';
import { factTable } from '@pawl/store/facts/fact-table';
import type { Database } from '@pawl/store/tables';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import * as z from 'zod';
import type { LandingContext } from '../changes/landing/advance.ts';
import { shown } from '../changes/shown.ts';

/** Tips of a target branch that it was moved away from without containing them, newest first. */
const droppedTips = factTable('dropped_tips', ['projectId'], {
  projectId: text,
  tips: json(z.array(z.string()).catch([])),
});
/** How many old tips are remembered, and how many commits a finding names. */
const rememberedTips = 20;
const namedCommits = 10;

/** True if the target branch was moved and lacks commits that it had. Keeps them in Pawl's own git directory. */
export async function isRewritten({ repository, ownDir, target }: LandingContext, old: string): Promise<boolean> {
  const { tip } = target;
  if (!(await hasCommit(repository, ownDir, old)) || (await isAncestor(repository, ownDir, old, tip))) return false;
  await importCommits(repository, ownDir, { tips: [old], not: [tip] });
  return true;
}

/** Remembers an old tip, and has every open change examined again, since approvals were for another target branch. */
export async function noteRewritten(tx: WriteTransaction, projectId: string, old: string): Promise<void> {
  const known = (await oldTips(tx.db, projectId)).filter((tip) => tip !== old);
  await droppedTips.set(tx, { projectId, tips: [old, ...known].slice(0, rememberedTips) });
  for (const { id } of await openChanges(tx.db, projectId)) {
    await updateChange(tx, id, { examinedHead: null, approvedHead: null, passedHead: null });
  }
}

async function oldTips(db: Database, projectId: string): Promise<string[]> {
  return (await droppedTips.get(db, { projectId }))?.tips ?? [];
}

type Place = { repository: Repository; ownDir: string; projectId: string; tip: string };

/** The commits of a head that the target branch had and now lacks. */
async function droppedFrom(
  db: Database,
  { repository, ownDir, projectId, tip }: Place,
  head: string,
): Promise<NamedCommit[]> {
  for (const old of await oldTips(db, projectId)) {
    const found = await droppedCommits(repository, ownDir, { head, old, tip, most: namedCommits + 1 });
    if (found.length > 0) return found;
  }
  return [];
}

/** True if a branch has commits that the target branch had and now lacks. */
export async function hasDropped(db: Database, place: Place, branch: string): Promise<boolean> {
  if ((await oldTips(db, place.projectId)).length === 0) return false;
  const head = await branchTip(place.repository, branch);
  return head !== null && (await droppedFrom(db, place, head)).length > 0;
}

/**
 * Asks a person about a change with commits that were removed from the target branch, since merging would bring them
 * back.
 */
export async function droppedFindings(
  { platform, project, repository, ownDir, target }: LandingContext,
  { head, branch }: Change,
): Promise<Finding[]> {
  const { tip } = target;
  const found = await droppedFrom(platform.store.db, { repository, ownDir, projectId: project.id, tip }, head);
  if (found.length === 0) return [];
  const named = found.slice(0, namedCommits).map(({ commit, subject }) => ({ commit, subject: shown(subject) }));
  const detail = droppedDetail(named, {
    target: target.branch,
    tip,
    hasMore: found.length > namedCommits,
    remote: target.remote?.name ?? null,
    branch,
    directory: await directoryOf(repository, branch),
    root: repository.root,
  });
  return [{ kind: 'commits-dropped', detail: cutText(detail, gateLimits.droppedCharacters) }];
}

/** The worktree that has a branch checked out; else the person's checkout. */
async function directoryOf(repository: Repository, branch: string): Promise<string> {
  const worktrees = await listWorktrees(repository);
  return worktrees.find((each) => each.branch === branch)?.path ?? repository.root;
}
