import { checkoutOf } from '@pawl/git/merge/advance';
import { addWorktree } from '@pawl/git/worktree/worktree';
import { processesIn } from '@pawl/host/process/process-directory';
import type { Change } from '@pawl/schema/change';
import { PawlError } from '@pawl/schema/error';
import type { Agent } from '@pawl/schema/record';
import { agentView } from '@pawl/store/agents/agent-views';
import { agentOfBranch } from '@pawl/store/changes/change-search';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { restoreFromTrash } from '../../agents/worktrees/worktrees.ts';
import type { Platform } from '../../platform/platform.ts';
import type { ProjectRules } from '../../project-config/project-rules.ts';

/** A worktree in which a person can resolve a conflict; `isOwn` if it was created for that. */
export type FixPlace = { path: string; isOwn: boolean };

/** The existing worktree of a change's branch: its author's, or one created before. */
export async function knownPlace(platform: Platform, rules: ProjectRules, change: Change): Promise<FixPlace | null> {
  const author = await agentOfBranch(platform.store.db, rules.project.id, change.branch);
  if (author !== null && hasWorktree(author)) {
    await refuseAtWork(platform, author);
    return { path: author.worktree ?? '', isOwn: false };
  }
  const path = ownPath(platform, rules, change);
  return existsSync(path) ? { path, isOwn: true } : null;
}

/** Like `knownPlace`, but restores one from the trash or creates it. Never uses the person's own checkout. */
export async function placeFor(platform: Platform, rules: ProjectRules, change: Change): Promise<FixPlace> {
  const known = await knownPlace(platform, rules, change);
  if (known?.isOwn === false) return known;
  const author = await agentOfBranch(platform.store.db, rules.project.id, change.branch);
  const path = ownPath(platform, rules, change);
  const { repository, ownDir } = rules;
  const elsewhere = await checkoutOf(repository, change.branch);
  if (elsewhere !== null && elsewhere !== path) throw checkedOut(rules, change, elsewhere);
  if (known === null && author?.worktreeEnd?.state === 'trashed')
    return { path: (await restoreFromTrash(platform, author.worktreeEnd.entry)).path, isOwn: false };
  // An existing one may be incomplete; this completes it, and otherwise changes nothing.
  await addWorktree(repository, { ownDir, path, branch: change.branch, base: change.head });
  return { path, isOwn: true };
}

/** Throws if a process works in the worktree. */
export function refuseOccupied({ path }: FixPlace): void {
  const [first] = processesIn(path);
  if (first === undefined) return;
  throw new PawlError('busy', `A process works in ${path} (${JSON.stringify(first)}).`, {
    hint: 'Wait until it has ended, or leave that directory.',
  });
}

/** The path of a worktree that belongs to no agent. */
function ownPath({ home }: Platform, { project }: ProjectRules, { id }: Change): string {
  return join(home.worktrees, project.name, `fix-${id.slice(0, 8)}`);
}

function hasWorktree({ worktree, worktreeReadyAt, worktreeEnd }: Agent): boolean {
  if (worktree === null || worktreeReadyAt === null) return false;
  const isKept = worktreeEnd === null || worktreeEnd.state === 'retained' || worktreeEnd.state === 'restored';
  return isKept && existsSync(worktree);
}

async function refuseAtWork(platform: Platform, { id, alias }: Agent): Promise<void> {
  const view = await agentView(platform.store.db, id);
  const isAtWork =
    view?.run?.outcome === null || (view !== null && view.session !== null && view.session.endedAt === null);
  if (!isAtWork || view === null || view.agent.endedAt !== null) return;
  throw new PawlError('busy', `${alias} is working on its branch.`, {
    hint: `Wait until it is done (pawl logs -f ${alias}), or stop it first: pawl stop ${alias}`,
  });
}

function checkedOut({ branch: target }: ProjectRules, { branch }: Change, path: string): PawlError {
  return new PawlError('conflict', `${branch} is checked out at ${path}, which is yours; Pawl starts no merge there.`, {
    hint: `Merge it yourself: cd ${path} && git merge ${target}; commit, then: pawl change open ${branch}`,
  });
}
