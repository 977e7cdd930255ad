import { isPlanningMode } from '@pawl/core/plan/output-file';
import { checkAccess } from '@pawl/core/definitions/gate';
import { changeRoutes } from '@pawl/protocol/changes/routes';
import { checkChangeText, checkTitle } from '@pawl/core/changes/change-text';
import { checkBranchName } from '@pawl/git/repository/branch-name';
import { mergeBase } from '@pawl/git/repository/change-diff';
import { withLock } from '@pawl/git/command/lock';
import { isAncestor } from '@pawl/git/merge/merge-step';
import { importCommits } from '@pawl/git/merge/queue-objects';
import { branchTip } from '@pawl/git/repository/repository';
import { crashPoint } from '@pawl/schema/crash-point';
import { PawlError } from '@pawl/schema/error';
import type { Agent } from '@pawl/schema/record';
import { agentOfBranch } from '@pawl/store/changes/change-search';
import { openChangeOf } from '@pawl/store/changes/changes';
import type { SessionPlatform } from '../accounts/session-platform.ts';
import type { Opened, OpenRequest, Proposal } from './change-record.ts';
import { recordProposal } from './change-record.ts';
import type { ProjectRules } from '../project-config/project-rules.ts';
import { projectRules } from '../project-config/project-rules.ts';
import { titleOf } from './change-title.ts';
import { landedHeads } from './landing/landed.ts';

/**
 * Proposes the current commit of a branch. Fetches the commit into Pawl's own git directory first, so that it survives
 * whatever happens to the branch; then writes change and event. An open change of the branch is updated, and proposing
 * the same commit again has no effect.
 */
export async function openChange(platform: SessionPlatform, request: OpenRequest): Promise<Opened> {
  const branch = branchMeant(request);
  // Of two concurrent calls, the one that reads the branch later writes later.
  return withLock(`change:${request.project.id}:${branch}`, async () => {
    const proposal = await propose(platform, request, branch);
    const opened = await platform.store.write((tx) => recordProposal(tx, platform, proposal));
    crashPoint('change.after_open');
    return opened;
  });
}

/** The branch to propose. Throws for an agent whose kind or definition may not propose. */
function branchMeant({ asker, branch }: OpenRequest): string {
  if (asker.is === 'person') {
    if (branch !== undefined) return checkBranchName(branch);
    throw new PawlError('invalid_input', 'No branch given.', {
      hint: 'Name it: pawl change open <branch>',
    });
  }
  const { agent, definition } = asker;
  checkAccess(changeRoutes.openChange.access, { kind: agent.kind, definition });
  if (isPlanningMode(agent.mode)) {
    throw new PawlError('forbidden', `${agent.alias} plans, so it has nothing to propose but its output files.`);
  }
  if (agent.branch === null) {
    throw new PawlError('conflict', `${agent.alias} has no branch of its own, so it has nothing to propose.`);
  }
  if (branch === undefined || branch === agent.branch) return agent.branch;
  throw new PawlError('forbidden', `Agents may only propose their own branch, here ${agent.branch}.`);
}

/** Reads the branch, refuses what cannot be proposed, and secures its commits. */
async function propose(platform: SessionPlatform, request: OpenRequest, branch: string): Promise<Proposal> {
  const { asker, project } = request;
  const rules = await projectRules(platform, project);
  const { repository, ownDir, tips } = rules;
  if (branch === rules.branch) {
    throw new PawlError('conflict', `${branch} is the target branch; it cannot be proposed.`, {
      hint: 'Commit on a branch of its own: git switch -c <branch>',
    });
  }
  const head = await branchTip(repository, branch);
  if (head === null) {
    throw new PawlError('not_found', `There is no branch ${branch} in ${project.root}.`, { hint: 'See `git branch`.' });
  }
  for (const tip of tips) await refuseKnown(platform, rules, { branch, head, tip });
  await importCommits(repository, ownDir, { tips: [head], not: tips });
  const author = asker.is === 'agent' ? asker.agent : await agentOfBranch(platform.store.db, project.id, branch);
  const { title, summary } = request;
  const base = await baseOf(rules, head, author);
  const found = await titleOf(platform, rules, { head, base, author });
  return {
    request,
    rules,
    branch,
    head,
    base,
    author,
    scripted: isScripted(platform, author) && !rules.config.playground,
    title: {
      given: title === undefined ? null : checkTitle(title),
      found: found.title,
      replaces: found.isSubject ? await subjectBefore(platform, rules, { branch, author }) : null,
    },
    summary: summary === undefined ? null : checkChangeText('summary', summary),
  };
}

/** True if a scripted agent made the commits. */
function isScripted({ providers }: SessionPlatform, author: Agent | null): boolean {
  return author !== null && providers.find(author.provider)?.scripted === true;
}

/** Refuses a branch that the target branch already contains: by the same commits, or squashed. */
async function refuseKnown(
  platform: SessionPlatform,
  rules: ProjectRules,
  { branch, head, tip }: { branch: string; head: string; tip: string },
): Promise<void> {
  if (await isAncestor(rules.repository, rules.ownDir, head, tip)) {
    throw new PawlError('conflict', `${branch} has no commits that ${rules.branch} lacks.`, {
      hint: 'Commit what you have done first.',
    });
  }
  if (!(await landedHeads({ platform, ...rules, target: { tip } })).includes(head)) return;
  throw new PawlError('conflict', `The head of ${branch} is already merged.`, {
    hint: 'Commit something more first, best on top of the target branch.',
  });
}

/**
 * The base of a branch: where its author started, if that is still in it, else the merge base with the target branch.
 */
async function baseOf({ repository, ownDir, tips }: ProjectRules, head: string, author: Agent | null): Promise<string> {
  const began = author?.baseCommit ?? null;
  if (began !== null && (await isAncestor(repository, ownDir, began, head))) return began;
  const [tip = head] = tips;
  return (await mergeBase(repository, ownDir, tip, head)) ?? tip;
}

/** The title that the branch's open change takes from its only commit, or null. */
async function subjectBefore(
  platform: SessionPlatform,
  rules: ProjectRules,
  { branch, author }: { branch: string; author: Agent | null },
): Promise<string | null> {
  const known = await openChangeOf(platform.store.db, rules.project.id, branch);
  if (known === null) return null;
  const base = await baseOf(rules, known.head, author);
  const { title, isSubject } = await titleOf(platform, rules, { head: known.head, base, author });
  return isSubject ? title : null;
}
