import { refuseBusy, refuseDead, refuseOther } from '@pawl/core/agents/errand';
import { firstLine } from '@pawl/core/shorten';
import { advanceBranch, checkoutOf, finishAdvance } from '@pawl/git/merge/advance';
import { checkBranchName } from '@pawl/git/repository/branch-name';
import { currentBranch, isContained, planMerge } from '@pawl/git/merge/merge';
import { branchTip } from '@pawl/git/repository/repository';
import type { Repository } from '@pawl/git/repository/repository';
import { commitWork } from '@pawl/git/worktree/work-tree';
import { worktreeWork } from '@pawl/git/worktree/worktree-work';
import { crashPoint } from '@pawl/schema/crash-point';
import { messageOf, PawlError } from '@pawl/schema/error';
import { eventData } from '@pawl/schema/event';
import { limits } from '@pawl/schema/limit';
import type { Agent } from '@pawl/schema/record';
import { agentView } from '@pawl/store/agents/agent-views';
import { agentById } from '@pawl/store/agents/agents';
import { recentEvents } from '@pawl/store/events';
import { sep } from 'node:path';
import { recordKill } from '../../registry/kill-record.ts';
import type { Platform } from '../../platform/platform.ts';
import { ownGitDirectory, branchPlaceOf, projectOf, repositoryOf } from '../../platform/platform.ts';
import { currentAgent } from '../../registry/current-agent.ts';
import type { MergeIntent } from './merge-intent.ts';
import { mergeIntents } from './merge-intent.ts';

export type MergeRequest = { into?: string | undefined; commit?: boolean | undefined };
export type Merged = { branch: string; into: string; commit: string; already: boolean };

/** An errand that may be merged. */
type Errand = { agent: Agent; repository: Repository; ownDir: string; path: string; branch: string; base: string };

/**
 * Merges an errand's branch and ends the errand. All or nothing: the merge is computed apart, the branch moves by
 * compare-and-set, and its checkout follows only if it is clean.
 *   record intent ─▶ move branch ─▶ update checkout ─▶ errand.merged, agent ends, intent deleted
 * After a crash, the next daemon or a repeated request completes it. Call it in the agent's lane.
 */
export async function mergeErrand(platform: Platform, agentId: string, request: MergeRequest): Promise<Merged> {
  const { db } = platform.store;
  const facts = await agentView(db, agentId);
  if (facts === null) throw new PawlError('agent_not_found', `There is no agent ${agentId}.`);
  const { agent } = facts;
  refuseOther(agent);
  if (agent.endedAt !== null) {
    const before = await mergedBefore(platform, agent);
    if (before !== null) return before;
  }
  refuseDead(agent);
  refuseBusy(facts);
  const begun = await mergeIntents.get(db, { agentId });
  const finished = begun === null ? null : await finishMerge(platform, agent, begun);
  if (finished !== null) return finished;
  const errand = await errandOf(platform, agent);
  const into = await targetOf(errand, request.into);
  await refuseAgents(platform, errand.repository, into);
  await settleFiles(errand, request.commit ?? false);
  return move(platform, errand, into);
}

/** Completes merges that an earlier daemon started. A failure does not block the others. */
export async function finishMerges(platform: Platform): Promise<void> {
  for (const intent of await mergeIntents.all(platform.store.db)) {
    try {
      const agent = await agentById(platform.store.db, intent.agentId);
      if (agent !== null) await finishMerge(platform, agent, intent);
    } catch (error) {
      platform.log.error({ agent: intent.agentId, error: messageOf(error) }, 'failed to complete a merge; will retry');
    }
  }
}

/** Continues an interrupted merge; null if it had changed nothing. */
async function finishMerge(platform: Platform, agent: Agent, intent: MergeIntent): Promise<Merged | null> {
  const { into, from, to } = intent;
  const { repository, ownDir, branch } = await errandOf(platform, agent);
  const tip = await branchTip(repository, into);
  if (tip === null || !(await isContained(repository, to, tip))) {
    await platform.store.write((tx) => mergeIntents.delete(tx, { agentId: agent.id }));
    return null;
  }
  if (!(await finishAdvance(repository, { ownDir, branch: into, from, to }))) {
    platform.log.warn({ branch: into }, 'failed to update the files of a checkout to its branch; run git status there');
  }
  await endMerged(platform, agent, { branch, into, commit: to });
  return { branch, into, commit: to, already: true };
}

async function move(platform: Platform, errand: Errand, into: string): Promise<Merged> {
  const { agent, repository, ownDir, branch, base } = errand;
  const tip = await branchTip(repository, branch);
  if (tip === null || tip === base) {
    throw new PawlError('conflict', `${branch} has no commit to merge.`, {
      hint: `Tell it to commit, or end it: pawl errand abandon ${agent.alias}`,
    });
  }
  for (let attempt = 1; attempt <= limits.mergeAttempts; attempt += 1) {
    const onto = await branchTip(repository, into);
    if (onto === null) throw new PawlError('not_found', `There is no branch ${into}.`, { hint: 'See `git branch`.' });
    const plan = await planMerge(repository, { ownDir, tip, onto, message: messageFor(agent) });
    if (plan.do === 'refuse') throw conflicts(errand, into, plan.files);
    if (plan.do === 'nothing') {
      await endMerged(platform, agent, { branch, into, commit: onto });
      return { branch, into, commit: onto, already: true };
    }
    const { commit: to } = plan;
    await platform.store.write((tx) => mergeIntents.set(tx, { agentId: agent.id, into, from: onto, to }));
    crashPoint('merge.after_intent');
    if (await tryAdvance(platform, errand, { into, from: onto, to })) {
      crashPoint('merge.after_files');
      await endMerged(platform, agent, { branch, into, commit: to });
      return { branch, into, commit: to, already: false };
    }
  }
  throw new PawlError('busy', `The branch ${into} keeps moving.`, { hint: 'Try again in a moment.' });
}

/** Moves the target, or deletes the intent if nothing has changed. */
async function tryAdvance(
  platform: Platform,
  { agent, repository, ownDir, branch }: Errand,
  { into, from, to }: { into: string; from: string; to: string },
): Promise<boolean> {
  let moved = false;
  try {
    moved = await advanceBranch(repository, { ownDir, branch: into, from, to, note: `pawl: merge ${branch}` });
    return moved;
  } finally {
    if (!moved) await platform.store.write((tx) => mergeIntents.delete(tx, { agentId: agent.id }));
  }
}

/** Completes a merge: event, end of the agent, and end of the intent, in one transaction. */
async function endMerged(platform: Platform, agent: Agent, data: Omit<Merged, 'already'>): Promise<void> {
  await platform.store.write(async (tx) => {
    await mergeIntents.delete(tx, { agentId: agent.id });
    const now = await agentById(tx.db, agent.id);
    if (now === null || now.endedAt !== null) return;
    await recordKill(tx, { target: now, killer: await currentAgent(tx.db), cascade: false, reason: 'merged' });
    tx.emit({ type: 'errand.merged', projectId: agent.projectId, agentId: agent.id, data });
  });
  crashPoint('merge.after_end');
}

async function mergedBefore(platform: Platform, agent: Agent): Promise<Merged | null> {
  const events = await recentEvents(platform.store.db, { limit: limits.pageRows, agentId: agent.id });
  const merged = events.findLast((event) => event.type === 'errand.merged');
  return merged === undefined ? null : { ...eventData['errand.merged'].parse(merged.data), already: true };
}

async function errandOf(platform: Platform, agent: Agent): Promise<Errand> {
  const project = await projectOf(platform.store, agent);
  const repository = await repositoryOf(platform, project);
  return { agent, repository, ownDir: ownGitDirectory(platform.home, project.id), ...branchPlaceOf(agent) };
}

async function targetOf({ repository, branch }: Errand, wanted: string | undefined): Promise<string> {
  const into = wanted ?? (await currentBranch(repository));
  if (into === null) {
    throw new PawlError('conflict', `The work tree ${repository.root} is on no branch.`, {
      hint: 'Name the branch to merge into: --into main',
    });
  }
  checkBranchName(into);
  if (into !== branch) return into;
  throw new PawlError('invalid_input', `${branch} is the errand’s own branch.`, { hint: 'Name another with --into.' });
}

/** Refuses to merge into a branch that an agent has checked out, since its files would change while it works. */
async function refuseAgents(platform: Platform, repository: Repository, into: string): Promise<void> {
  const path = await checkoutOf(repository, into);
  if (path === null || !path.startsWith(platform.home.worktrees + sep)) return;
  throw new PawlError('conflict', `${into} is the branch of another agent, which works in ${path}.`, {
    hint: 'Merge into a branch of yours.',
  });
}

/** Refuses a worktree with uncommitted files, or commits them on request. */
async function settleFiles(errand: Errand, commit: boolean): Promise<void> {
  const { agent, repository, ownDir, path, branch } = errand;
  const work = await worktreeWork(repository, errand);
  if (work.state === 'clean' || work.state === 'unpushed' || work.state === 'missing') return;
  if (work.state === 'dirty' && commit) {
    await commitWork(repository, { ownDir, path, branch, message: `What ${agent.alias} left uncommitted\n` });
    return;
  }
  throw new PawlError('conflict', `The worktree of ${agent.alias} is not clean: ${work.detail}`, {
    hint: work.state === 'dirty' ? 'Look at `pawl errand diff`; --commit commits all of it.' : 'Look at it first.',
    details: { path },
  });
}

function messageFor({ branch, assignment }: Agent): string {
  return `Merge ${branch ?? ''}\n\n${firstLine(assignment ?? '', limits.errandCharacters)}\n`;
}

function conflicts({ branch }: Errand, into: string, files: string[]): PawlError {
  return new PawlError('conflict', `${branch} and ${into} conflict in ${files.length} files: ${files.join(', ')}.`, {
    hint: `Let the errand merge ${into} into its branch first; nothing was changed.`,
    details: { files },
  });
}
