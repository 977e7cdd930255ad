import { isForReview } from '@pawl/core/changes/change-comment';
import { reviewTask } from '@pawl/core/changes/crew-task';
import { nextReview } from '@pawl/core/changes/review-step';
import type { Change, ChangeComment } from '@pawl/schema/change';
import { PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import type { Staff } from '@pawl/schema/project-config';
import type { AgentFacts } from '@pawl/schema/agent/agent-facts';
import { updateChange } from '@pawl/store/changes/changes';
import { noteGivenUp, noteReviewed } from '../notices.ts';
import type { Discussed } from '../people.ts';
import { discussed, signed, unmoved } from '../people.ts';
import type { QueueContext } from '../queue-context.ts';
import { dismiss, dismissIfAtWork } from '../queue-context.ts';
import type { RepairParts } from './staff.ts';
import { assignAgent, viewOfAgent } from './staff.ts';

/** Takes the next step of a change's review. True while a reviewer works and may comment. */
export async function reviewChange(parts: RepairParts, context: QueueContext, talk: Discussed): Promise<boolean> {
  const { review } = context.config;
  if (review === null) return false;
  const { change, blocking } = talk;
  const reviewer = await viewOfAgent(parts, change.reviewerId);
  // The review judges objections that a person made before this head.
  const held = blocking.filter((comment) => !isForReview(comment, change));
  const step = nextReview({ change, blocking: held.length, reviewer });
  switch (step.do) {
    case 'nothing':
      return false;
    case 'wait':
      return true;
    case 'begin':
      return begin(parts, context, talk, { staff: review, failed: step.failed });
    case 'end':
      if (reviewer !== null) await end(parts, context, change, reviewer);
      return false;
    case 'give-up':
      await giveUp(parts, context, change, 'its review ended without a result');
      return false;
  }
}

async function begin(
  parts: RepairParts,
  context: QueueContext,
  { change, comments }: Discussed,
  { staff, failed }: { staff: Staff; failed: number },
): Promise<boolean> {
  const { project, queue } = context;
  const addressed = await signed(parts, comments.filter(isAddressed));
  const task = reviewTask(change, { branch: queue.branch, addressed });
  const key = `review:${change.id}:${change.head}:${failed}`;
  try {
    const agent = await assignAgent(parts, {
      project,
      staff,
      task,
      base: change.head,
      mode: 'review',
      author: (await viewOfAgent(parts, change.agentId))?.agent ?? null,
      playground: context.config.playground,
      key,
    });
    const isNeeded = await parts.platform.store.write(async (tx) => {
      const now = await unmoved(tx.db, change);
      if (now === null || now.reviewerId === agent.id) return now !== null;
      await updateChange(tx, change.id, { reviewerId: agent.id, reviews: failed });
      const data = { changeId: change.id, reviewerId: agent.id, head: change.head };
      tx.emit({ type: 'review.started', projectId: project.id, agentId: change.agentId, peerId: agent.id, data });
      return true;
    });
    if (!isNeeded) await dismiss(parts, agent);
    // A reviewer of an earlier head examines commits that are no longer proposed.
    else if (change.reviewerId !== null && change.reviewerId !== agent.id)
      await dismissIfAtWork(parts, change.reviewerId);
    return isNeeded;
  } catch (error) {
    if (!(error instanceof PawlError)) throw error;
    // Every pass retries, so correcting the config is enough.
    await giveUp(parts, context, change, `no reviewer could be started: ${error.message}`);
    return false;
  }
}

/** A review counts only for the head it started with. */
async function end(
  parts: RepairParts,
  context: QueueContext,
  change: Change,
  { agent, run }: AgentFacts,
): Promise<void> {
  const { platform } = parts;
  const { project } = context;
  const summary = agent.completion?.summary ?? run?.detail ?? '';
  await platform.store.write(async (tx) => {
    const now = await unmoved(tx.db, change);
    if (now === null || now.reviewedHead === change.head) return;
    await updateChange(tx, change.id, { reviewedHead: change.head });
    const { comments, blocking } = await discussed(tx.db, now);
    const notes = comments.filter(({ kind, agentId }) => kind === 'note' && agentId === agent.id).length;
    const data = { changeId: change.id, head: change.head, blocking: blocking.length };
    tx.emit({ type: 'review.ended', projectId: project.id, agentId: change.agentId, peerId: agent.id, data });
    await noteReviewed(tx, { platform, project, change, reviewer: agent, blocking: blocking.length, notes, summary });
  });
}

/** Asks a person, once per head. */
async function giveUp(
  { platform }: RepairParts,
  { project }: QueueContext,
  change: Change,
  reason: string,
): Promise<void> {
  await platform.store.write(async (tx) => {
    const now = await unmoved(tx.db, change);
    if (now === null || now.reviews >= limits.reviewAttempts) return;
    await updateChange(tx, change.id, { reviews: limits.reviewAttempts });
    const data = { changeId: change.id, by: 'pawl', reason };
    tx.emit({ type: 'change.blocked', projectId: project.id, agentId: change.agentId, data });
    await noteGivenUp(tx, { platform, project, change, reason });
  });
}

function isAddressed(comment: ChangeComment): comment is ChangeComment & { addressed: string } {
  return comment.kind === 'blocking' && comment.addressed !== null;
}
