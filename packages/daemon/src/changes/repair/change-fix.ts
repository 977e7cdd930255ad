import { shellWord } from '@pawl/schema/shell-word';
import { branchTip } from '@pawl/git/repository/repository';
import { beginMerge, commitMerge } from '@pawl/git/worktree/worktree-merge';
import type { ChangeFix } from '@pawl/protocol/changes/view';
import type { Change } from '@pawl/schema/change';
import { crashPoint } from '@pawl/schema/crash-point';
import { PawlError } from '@pawl/schema/error';
import { agentOfBranch } from '@pawl/store/changes/change-search';
import type { Reconciler } from '../../sessions/reconcile/reconciler.ts';
import type { SessionPlatform } from '../../accounts/session-platform.ts';
import { openOne } from '../change-now.ts';
import { openChange } from '../change-open.ts';
import type { ProjectRules } from '../../project-config/project-rules.ts';
import { projectRules } from '../../project-config/project-rules.ts';
import { projectOfChange } from '../change-scope.ts';
import { knownPlace, placeFor, refuseOccupied } from './fix-place.ts';
import { changeFixes } from '../../agents/worktrees/fix-record.ts';
import { landedHeads } from '../landing/landed.ts';

type Fixed = Omit<ChangeFix, 'change'>;
type Request = { changeId: string; proceed: boolean };

/**
 * Opens a change's conflict for a person: merges the target branch into the change's branch, in its author's worktree
 * or a new one, and leaves it to be resolved. With `proceed`, commits and proposes the resolved merge.
 *   record ─▶ worktree of the branch ─▶ start the merge ─▶ (a person resolves it) ─▶ commit ─▶ propose
 * Each step may be repeated, so the next call completes an interrupted one.
 */
export async function fixChange(
  platform: SessionPlatform,
  { inLane }: Pick<Reconciler, 'inLane'>,
  { changeId, proceed }: Request,
): Promise<Fixed> {
  const change = await openOne(platform.store.db, changeId);
  const rules = await projectRules(platform, await projectOfChange(platform, change));
  const author = await agentOfBranch(platform.store.db, rules.project.id, change.branch);
  const act = () => (proceed ? finish(platform, rules, change) : begin(platform, rules, change));
  // In the author's lane, so that no session of it starts meanwhile.
  return author === null ? act() : inLane(author.id, act);
}

async function begin(platform: SessionPlatform, rules: ProjectRules, change: Change): Promise<Fixed> {
  const { repository, ownDir } = rules;
  const { branch, head } = change;
  const [onto = head] = rules.tips;
  if ((await branchTip(repository, branch)) !== head) throw movedOn(change);
  const before = await changeFixes.get(platform.store.db, { changeId: change.id });
  const isRepeat = before !== null && before.head === head;
  const place = await placeFor(platform, rules, change);
  const { path } = place;
  if (!isRepeat) {
    refuseOccupied(place);
    const about = { changeId: change.id, projectId: change.projectId, branch, head };
    await platform.store.write((tx) =>
      changeFixes.set(tx, { ...about, path, isOwnWorktree: place.isOwn || before?.isOwnWorktree === true, at: tx.now }),
    );
  }
  crashPoint('fix.after_intent');
  const landed = await landedHeads({ platform, ...rules, target: { tip: onto } });
  const about = {
    ownDir,
    path,
    branch,
    head,
    onto,
    landed,
    message: messageFor(rules, branch),
    atMs: platform.clock(),
  };
  const begun = await beginMerge(repository, { ...about, isRepeat });
  const files = begun.do === 'clean' ? [] : begun.files;
  return { outcome: begun.do, path, branch, onto, files, next: nextSteps(change, begun.do, path) };
}

async function finish(platform: SessionPlatform, rules: ProjectRules, change: Change): Promise<Fixed> {
  const { repository, ownDir, project } = rules;
  const { branch } = change;
  const place = await knownPlace(platform, rules, change);
  if (place !== null)
    await commitMerge(repository, { ownDir, path: place.path, branch, message: messageFor(rules, branch) });
  const tip = await branchTip(repository, branch);
  if (tip === null || tip === change.head) {
    throw new PawlError('conflict', 'No merge is in progress for this change, and its branch has no new commit.', {
      hint: `Start it: pawl change fix ${change.id.slice(0, 8)}`,
    });
  }
  await openChange(platform, { asker: { is: 'person' }, project, branch });
  const [onto = tip] = rules.tips;
  return { outcome: 'proposed', path: place?.path ?? null, branch, onto, files: [], next: [] };
}

function messageFor({ branch: target }: ProjectRules, branch: string): string {
  return `Merge ${target} into ${branch}\n`;
}

function nextSteps({ id, branch }: Change, outcome: 'begun' | 'already' | 'clean', path: string): string[] {
  const short = id.slice(0, 8);
  if (outcome === 'clean') return [`pawl change retry ${short}`];
  return [
    `cd ${shellWord(path)}`,
    'resolve the conflicts, then mark each file: git add <file>, or git rm <file>',
    `pawl change fix ${short} --continue (or git commit, and pawl change open ${branch})`,
  ];
}

function movedOn({ id, branch }: Change): PawlError {
  return new PawlError('conflict', `${branch} has moved since it was proposed.`, {
    hint: `Propose what it has now: pawl change fix ${id.slice(0, 8)} --continue`,
  });
}
