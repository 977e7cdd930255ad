import { notRefreshedWords, reasonNotToRefresh, refreshedWords } from '@pawl/core/queue/refresh';
import { finishRebase, moveRebased, planRebase } from '@pawl/git/worktree/rebase-worktree';
import type { Repository } from '@pawl/git/repository/repository';
import { processesIn } from '@pawl/host/process/process-directory';
import { crashPoint } from '@pawl/schema/crash-point';
import { messageOf, PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import type { Agent } from '@pawl/schema/record';
import { agentView } from '@pawl/store/agents/agent-views';
import { agentById, updateAgent } from '@pawl/store/agents/agents';
import { openChangeOf } from '@pawl/store/changes/changes';
import { landedHeads, mergedHeadsOf } from '@pawl/store/changes/landed-changes';
import { mailById } from '@pawl/store/mail/mail';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import { recordMail, shortBody } from '../mail/mail-record.ts';
import { rootAgent } from '../platform/root-agent.ts';
import type { Platform } from '../platform/platform.ts';
import { ownGitDirectory, branchPlaceOf, projectOf, repositoryOf } from '../platform/platform.ts';
import { hasDropped } from './dropped.ts';
import type { RefreshIntent } from './refresh-intent.ts';
import {
  beginRefresh,
  forgetRefresh,
  forgetRefusal,
  lastNotice,
  lastRefusal,
  noteNotice,
  noteRefusal,
  refreshesBegun,
} from './refresh-intent.ts';

/** Where the agents of one project are to be brought: to this commit of the target branch. */
export type Goal = { projectId: string; repository: Repository; ownDir: string; target: string; onto: string };

/**
 * Brings one worktree up, if that is possible without touching what is not committed in it. True when there is nothing to
 * be done as long as nobody moves.
 *
 *   intent on record ─▶ the branch moves ─▶ its files follow ─▶ worktree.refreshed, the agent is told, the intent goes
 *
 * Cut short anywhere, it is finished by the next daemon before anybody works there. To be called in the agent's lane.
 */
export async function refreshWorktree(platform: Platform, agentId: string, goal: Goal): Promise<boolean> {
  const { db } = platform.store;
  const { repository, ownDir, target, onto } = goal;
  const facts = await agentView(db, agentId);
  if (facts === null || facts.agent.branch === null) return false;
  const { agent } = facts;
  const change = await openChangeOf(db, goal.projectId, facts.agent.branch);
  if (reasonNotToRefresh(facts, { target, change }) !== null) return false;
  const place = branchPlaceOf(agent);
  const landed = await landedHeads(db, goal.projectId, place);
  const merged = await mergedHeadsOf(db, goal.projectId, { agentId, branch: place.branch });
  // Replayed onto the new main, commits that were removed from it would pass for the agent's own.
  const { projectId } = goal;
  if (await hasDropped(db, { repository, ownDir, projectId, tip: onto }, place.branch)) return false;
  const plan = await planRebase(repository, { ownDir, ...place, onto, landed, merged, atMs: platform.clock() });
  if (plan.do === 'skip') return plan.isSettled;
  const about = { branch: place.branch, target, onto };
  if (plan.do === 'conflict') {
    await tellRefusal(platform, agent, notRefreshedWords(about, { conflicts: plan.files }), plan.files.join('\0'));
    return true;
  }
  // A person may have a shell or an editor there.
  if (processesIn(place.path).length > 0) return false;
  const intent: RefreshIntent = { agentId, ...about, from: plan.from, to: plan.to };
  await platform.store.write((tx) => beginRefresh(tx, intent));
  crashPoint('refresh.after_intent');
  try {
    const moved = await moveRebased(repository, { ownDir, branch: place.branch, from: plan.from, to: plan.to });
    crashPoint('refresh.after_files');
    if (moved) await recordRefreshed(platform, agent, intent);
    else await platform.store.write((tx) => forgetRefresh(tx, agentId));
  } catch (error) {
    await finishOne(platform, intent);
    if (!(error instanceof PawlError) || error.code !== 'conflict') throw error;
    await tellRefusal(platform, agent, notRefreshedWords(about, { reason: error.message }), error.message);
  }
  return false;
}

/** Finishes what an earlier daemon had begun to move. One that cannot be finished keeps no other from it. */
export async function finishRefreshes(platform: Platform): Promise<void> {
  for (const intent of await refreshesBegun(platform.store.db)) {
    try {
      await finishOne(platform, intent);
    } catch (error) {
      platform.log.error({ agent: intent.agentId, error: messageOf(error) }, 'a worktree could not be settled yet');
    }
  }
}

async function finishOne(platform: Platform, intent: RefreshIntent): Promise<void> {
  const { agentId, branch, from, to } = intent;
  const agent = await agentById(platform.store.db, agentId);
  const project = agent === null ? null : await projectOf(platform.store, agent);
  const ownDir = project === null ? '' : ownGitDirectory(platform.home, project.id);
  const isMoved =
    project !== null && (await finishRebase(await repositoryOf(platform, project), { ownDir, branch, from, to }));
  // An intent of an older release may name a move that goes nowhere.
  if (agent !== null && isMoved && from !== to) return recordRefreshed(platform, agent, intent);
  await platform.store.write((tx) => forgetRefresh(tx, agentId));
}

/** The end of a move: where the agent's work begins now, the event, what it is told, and the end of the intent. */
async function recordRefreshed(
  platform: Platform,
  { id, projectId, worktree }: Agent,
  intent: RefreshIntent,
): Promise<void> {
  const { from, to, onto } = intent;
  await platform.store.write(async (tx) => {
    await forgetRefresh(tx, id);
    await forgetRefusal(tx, id);
    await updateAgent(tx, id, { baseCommit: onto });
    tx.emit({ type: 'worktree.refreshed', projectId, agentId: id, data: { path: worktree ?? '', from, to } });
    const now = await agentById(tx.db, id);
    if (now !== null && now.endedAt === null) await tellRefreshed(tx, now, intent);
  });
  crashPoint('refresh.after_record');
}

/** Tells an agent that its branch has moved. System mail begins no turn, so a notice that still waits covers later moves. */
async function tellRefreshed(tx: WriteTransaction, agent: Agent, intent: RefreshIntent): Promise<void> {
  const noticeId = await lastNotice(tx.db, agent.id);
  const notice = noticeId === null ? null : await mailById(tx.db, noticeId);
  if (notice !== null && notice.deliveredAt === null && notice.deadAt === null && notice.claimSessionId === null)
    return;
  const draft = { from: await rootAgent(tx.db), to: agent, kind: 'system' } as const;
  const { id } = await recordMail(tx, draft, shortBody(refreshedWords(intent)));
  await noteNotice(tx, agent.id, id, { memoryMs: limits.foreseenMs });
}

/** Tells an agent why its worktree stays behind; the same cause is told once, however often main moves. */
async function tellRefusal(platform: Platform, agent: Agent, words: string, cause: string): Promise<void> {
  if ((await lastRefusal(platform.store.db, agent.id)) === cause) return;
  await platform.store.write(async (tx) => {
    await noteRefusal(tx, agent.id, cause, { memoryMs: limits.foreseenMs });
    await recordMail(tx, { from: await rootAgent(tx.db), to: agent, kind: 'system' }, shortBody(words));
  });
}
