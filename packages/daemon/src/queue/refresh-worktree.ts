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
import { movedNotices, refreshIntents, refreshRefusals } from './refresh-intent.ts';

/** The commit of the target branch to which the agents of one project are moved. */
export type Goal = { projectId: string; repository: Repository; ownDir: string; target: string; onto: string };

/**
 * Updates one worktree, if that is possible without touching uncommitted files. True if there is nothing to do until
 * something moves.
 *   record intent ─▶ move branch ─▶ update files ─▶ worktree.refreshed, notice, intent deleted
 * After a crash, the next daemon completes it before anything runs there. Call it in the agent's lane.
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
  // Rebased onto the new main, commits that were removed from it would look like the agent's own.
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
  await platform.store.write((tx) => refreshIntents.set(tx, intent));
  crashPoint('refresh.after_intent');
  try {
    const moved = await moveRebased(repository, { ownDir, branch: place.branch, from: plan.from, to: plan.to });
    crashPoint('refresh.after_files');
    if (moved) await recordRefreshed(platform, agent, intent);
    else await platform.store.write((tx) => refreshIntents.delete(tx, { agentId }));
  } catch (error) {
    await finishOne(platform, intent);
    if (!(error instanceof PawlError) || error.code !== 'conflict') throw error;
    await tellRefusal(platform, agent, notRefreshedWords(about, { reason: error.message }), error.message);
  }
  return false;
}

/** Completes moves that an earlier daemon started. A failure does not block the others. */
export async function finishRefreshes(platform: Platform): Promise<void> {
  for (const intent of await refreshIntents.all(platform.store.db)) {
    try {
      await finishOne(platform, intent);
    } catch (error) {
      platform.log.error(
        { agent: intent.agentId, error: messageOf(error) },
        'failed to complete the update of a worktree',
      );
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
  await platform.store.write((tx) => refreshIntents.delete(tx, { agentId }));
}

/** Completes a move: the agent's new base, the event, the notice, and the end of the intent. */
async function recordRefreshed(
  platform: Platform,
  { id, projectId, worktree }: Agent,
  intent: RefreshIntent,
): Promise<void> {
  const { from, to, onto } = intent;
  await platform.store.write(async (tx) => {
    await refreshIntents.delete(tx, { agentId: id });
    await refreshRefusals.delete(tx, { agentId: id });
    await updateAgent(tx, id, { baseCommit: onto });
    tx.emit({ type: 'worktree.refreshed', projectId, agentId: id, data: { path: worktree ?? '', from, to } });
    const now = await agentById(tx.db, id);
    if (now !== null && now.endedAt === null) await tellRefreshed(tx, now, intent);
  });
  crashPoint('refresh.after_record');
}

/** Tells an agent that its branch has moved. System mail starts no turn, so an unread notice covers later moves. */
async function tellRefreshed(tx: WriteTransaction, agent: Agent, intent: RefreshIntent): Promise<void> {
  const last = await movedNotices.get(tx.db, { agentId: agent.id });
  const notice = last === null ? null : await mailById(tx.db, last.mailId);
  if (notice !== null && notice.deliveredAt === null && notice.deadAt === null && notice.claimSessionId === null)
    return;
  const draft = { from: await rootAgent(tx.db), to: agent, kind: 'system' } as const;
  const { id } = await recordMail(tx, draft, shortBody(refreshedWords(intent)));
  await movedNotices.deleteBefore(tx, tx.now - limits.foreseenMs);
  await movedNotices.set(tx, { agentId: agent.id, mailId: id });
}

/** Tells an agent why its worktree stays behind; once per cause, however often main moves. */
async function tellRefusal(platform: Platform, agent: Agent, words: string, cause: string): Promise<void> {
  const agentId = agent.id;
  if ((await refreshRefusals.get(platform.store.db, { agentId }))?.cause === cause) return;
  await platform.store.write(async (tx) => {
    await refreshRefusals.deleteBefore(tx, tx.now - limits.foreseenMs);
    await refreshRefusals.set(tx, { agentId, cause });
    await recordMail(tx, { from: await rootAgent(tx.db), to: agent, kind: 'system' }, shortBody(words));
  });
}
