import { blockingOf } from '@pawl/core/changes/change-comment';
import { isOver } from '@pawl/core/changes/change-life';
import type { StateOfChange } from '@pawl/core/changes/change-state';
import { changeState, needsPerson } from '@pawl/core/changes/change-state';
import type { ChangeCommentView, ChangeDetail, ChangeDiff, ChangeView } from '@pawl/protocol/changes/view';
import { diffCommits } from '@pawl/git/repository/change-diff';
import type { Change, Check } from '@pawl/schema/change';
import { PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import type { Project } from '@pawl/schema/record';
import { agentById } from '@pawl/store/agents/agents';
import { changeById, commentsOf } from '@pawl/store/changes/changes';
import { recentChecks } from '@pawl/store/changes/checks';
import type { Database } from '@pawl/store/tables';
import type { DefinitionPlatform } from '../definitions/definition-platform.ts';
import type { ProjectRules } from '../project-config/project-rules.ts';
import { configOf, projectRules } from '../project-config/project-rules.ts';
import { projectOfChange } from './change-scope.ts';
import { checksWith } from '../checks/check-view.ts';
import type { Effect } from './guard/effect.ts';
import { effectOf } from './guard/effect.ts';
import type { ProjectFacts } from './facts.ts';
import { changeFacts, projectFacts } from './facts.ts';
import { localBranch } from './landing/local-branch.ts';
import { learningsOf } from './learnings.ts';

/** The facts that the views of one project's changes share. */
export type ViewFacts = {
  project: Project;
  /** Null if the project's configuration cannot be read; `trouble` then says why. */
  facts: ProjectFacts | null;
  trouble: string | null;
  checks: Check[];
};

export async function viewFactsOf(platform: DefinitionPlatform, project: Project): Promise<ViewFacts> {
  const { db } = platform.store;
  const { found, trouble } = await configOf(platform, project);
  const facts = found === null ? null : await projectFacts(db, project.id, found);
  return { project, facts, trouble, checks: await recentChecks(db, project.id, limits.searchedChecks) };
}

export async function viewChange(db: Database, change: Change, viewFacts: ViewFacts): Promise<ChangeView> {
  const { project, checks } = viewFacts;
  const comments = await commentsOf(db, change.id);
  const blocking = blockingOf(comments).length;
  const { state, detail } = await stateSeen(db, change, viewFacts);
  return {
    ...change,
    state,
    detail,
    needsPerson:
      state === 'needs-human-input' || state === 'ready' || (!isOver(change) && needsPerson({ change, blocking })),
    author: await named(db, change.authorId),
    project: { id: project.id, name: project.name },
    checks: checksWith(checks, change, limits.listedChecks),
    comments: comments.length,
    blocking,
  };
}

/**
 * The state of a change. A settled one never changes; for others it is unknown while the project's rules cannot be
 * read.
 */
export async function stateSeen(
  db: Database,
  change: Change,
  { facts, trouble }: Pick<ViewFacts, 'facts' | 'trouble'>,
): Promise<StateOfChange> {
  if (facts !== null) return changeState(await changeFacts(db, change, facts));
  if (change.mergedAt !== null) return { state: 'merged', detail: `as ${(change.mergedCommit ?? '').slice(0, 10)}` };
  if (change.closedAt !== null) return { state: 'closed', detail: change.closeReason ?? '' };
  return { state: 'blocked', detail: trouble ?? '' };
}

/** Views of changes from any projects, in the order given. */
export async function viewChanges(platform: DefinitionPlatform, changes: readonly Change[]): Promise<ChangeView[]> {
  const sights = new Map<string, ViewFacts>();
  const views: ChangeView[] = [];
  for (const change of changes) {
    const viewFacts =
      sights.get(change.projectId) ?? (await viewFactsOf(platform, await projectOfChange(platform, change)));
    sights.set(change.projectId, viewFacts);
    views.push(await viewChange(platform.store.db, change, viewFacts));
  }
  return views;
}

export async function viewOf(platform: DefinitionPlatform, changeId: string): Promise<ChangeView> {
  const change = await changeById(platform.store.db, changeId);
  const [view] = change === null ? [] : await viewChanges(platform, [change]);
  if (view === undefined) throw new PawlError('not_found', `There is no change ${changeId}.`);
  return view;
}

/** All details of a change. */
export async function detailOf(platform: DefinitionPlatform, change: Change): Promise<ChangeDetail> {
  const { db } = platform.store;
  const project = await projectOfChange(platform, change);
  const viewFacts = await viewFactsOf(platform, project);
  const comments: ChangeCommentView[] = [];
  for (const comment of await commentsOf(db, change.id)) {
    comments.push({ ...comment, author: await named(db, comment.agentId) });
  }
  return {
    change: await viewChange(db, change, viewFacts),
    comments,
    checks: checksWith(viewFacts.checks, change, limits.shownChecks),
    learnings: learningsOf(platform.home, project, change),
    local: change.mergedCommit === null ? null : await localBranch(platform, project, change.mergedCommit),
  };
}

/** The diff between the target branch without and with a change, which is also what the guard examines. */
export async function diffOf(platform: DefinitionPlatform, change: Change): Promise<ChangeDiff> {
  const rules = await projectRules(platform, await projectOfChange(platform, change));
  const { repository, ownDir } = rules;
  const { base: from, change: made } = await comparedFor(platform, rules, change);
  const diff = await diffCommits(repository, { ownDir, from, to: made.head });
  return { changeId: change.id, branch: change.branch, from, to: change.head, ...diff };
}

/** A merged change is compared with its base, since the target branch contains it. */
async function comparedFor(platform: DefinitionPlatform, rules: ProjectRules, change: Change): Promise<Effect> {
  const [tip] = rules.tips;
  if (change.mergedAt !== null || tip === undefined) return { base: change.base, change };
  return effectOf({ platform, ...rules, target: { tip } }, change);
}

export async function named(db: Database, agentId: string | null): Promise<{ id: string; alias: string } | null> {
  const agent = agentId === null ? null : await agentById(db, agentId);
  return agent === null ? null : { id: agent.id, alias: agent.alias };
}
