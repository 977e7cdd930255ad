import type { Returned, ReturnCause } from '@pawl/core/changes/change-return';
import { nextReturn } from '@pawl/core/changes/change-return';
import { standInTask } from '@pawl/core/changes/crew-task';
import type { Trouble } from '@pawl/core/changes/notice-text';
import { returnedText, troubleText } from '@pawl/core/changes/notice-text';
import type { Change } from '@pawl/schema/change';
import { PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import type { Staff } from '@pawl/schema/project-config';
import type { AgentFacts } from '@pawl/schema/agent/agent-facts';
import { changeById, updateChange } from '@pawl/store/changes/changes';
import { mailById } from '@pawl/store/mail/mail';
import { queueOf, updateQueue } from '@pawl/store/changes/queues';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import { alert, noteGivenUp } from '../notices.ts';
import type { Discussed } from '../people.ts';
import { nameOf, signed, standingOf, unmoved } from '../people.ts';
import { changeReturns } from './returned.ts';
import type { QueueContext } from '../queue-context.ts';
import { dismiss, dismissIfAtWork, outputOf, targetOf } from '../queue-context.ts';
import type { RepairParts } from './staff.ts';
import { assignAgent, viewOfAgent } from './staff.ts';

/**
 * Returns a change that cannot be merged as it is: to its author, or to a stand-in. One transaction records the count,
 * the event, and the mail to the author or the stand-in.
 */
export async function returnChange(parts: RepairParts, context: QueueContext, talk: Discussed): Promise<void> {
  const { change, blocking } = talk;
  const last = await changeReturns.get(parts.platform.store.db, { changeId: change.id });
  const author = await viewOfAgent(parts, change.agentId);
  const holder = last === null || last.to === change.agentId ? author : await viewOfAgent(parts, last.to);
  const { fixer } = context.config;
  const step = nextReturn({
    change,
    blocking,
    last,
    author: change.agentId === null ? 'person' : await standingOf(parts, author),
    holder: await standingOf(parts, holder),
    hadItsTurn: last !== null && (await hadItsTurn(parts, last, holder)),
    hasStandIn: fixer !== null,
  });
  if (step.do === 'nothing') return;
  if (step.do === 'give-up') return giveUp(parts, context, change, step.reason);
  const trouble = await troubleOf(parts, context, talk, step.cause);
  if (step.do === 'tell-author' && author !== null) return tellAuthor(parts, talk, author, trouble);
  if (step.do === 'stand-in' && fixer !== null) return putInPlace(parts, context, talk, { staff: fixer, trouble });
}

/** Releases the stand-in of a change that someone else has moved meanwhile. */
export async function releaseStandIn(parts: RepairParts, change: Change): Promise<void> {
  const { standInId } = change;
  if (standInId === null || standInId === change.agentId) return;
  const last = await changeReturns.get(parts.platform.store.db, { changeId: change.id });
  if (last === null || last.to !== standInId || last.head === change.head) return;
  const isReleased = await parts.platform.store.write(async (tx) => {
    const now = await unmoved(tx.db, change);
    if (now === null || now.standInId !== standInId || now.agentId === standInId) return false;
    await updateChange(tx, change.id, { standInId: null });
    return true;
  });
  if (isReleased) await dismissIfAtWork(parts, standInId);
}

/** True if the run in which an agent was told has ended. */
async function hadItsTurn(parts: RepairParts, last: Returned, holder: AgentFacts | null): Promise<boolean> {
  const endedAt = holder?.run?.endedAt ?? null;
  if (endedAt === null || last.mailId === null) return endedAt !== null;
  const mail = await mailById(parts.platform.store.db, last.mailId);
  return mail !== null && mail.deliveredAt !== null && endedAt >= mail.deliveredAt;
}

async function tellAuthor(
  { platform }: RepairParts,
  talk: Discussed,
  { agent }: AgentFacts,
  trouble: Trouble,
): Promise<void> {
  const { change } = talk;
  await platform.store.write(async (tx) => {
    if (!(await isUnchanged(tx, change))) return;
    const mailId = await alert(tx, agent, returnedText(change, trouble));
    await recordReturn(tx, talk, { to: agent.id, mailId, trouble });
  });
}

/** Starts a stand-in on a branch that starts at the change's head; the change follows that branch. */
async function putInPlace(
  parts: RepairParts,
  context: QueueContext,
  talk: Discussed,
  { staff, trouble }: { staff: Staff; trouble: Trouble },
): Promise<void> {
  const { change } = talk;
  const { project } = context;
  const task = standInTask(change, { author: await nameOf(parts, change.agentId), trouble });
  const mode = trouble.cause === 'conflict' ? 'conflict-resolution' : 'execute';
  const key = `stand-in:${change.id}:${change.head}:${change.returns}`;
  try {
    const agent = await assignAgent(parts, {
      project,
      staff,
      task,
      base: change.head,
      mode,
      author: (await viewOfAgent(parts, change.agentId))?.agent ?? null,
      playground: context.config.playground,
      key,
    });
    const isNeeded = await parts.platform.store.write(async (tx) => {
      // A concurrent pass has started the same agent and recorded it.
      if (!(await isUnchanged(tx, change))) return (await changeById(tx.db, change.id))?.standInId === agent.id;
      await updateChange(tx, change.id, { standInId: agent.id });
      await recordReturn(tx, talk, { to: agent.id, mailId: null, trouble });
      await passRepair(tx, change, agent.id);
      return true;
    });
    if (!isNeeded) await dismiss(parts, agent);
  } catch (error) {
    if (!(error instanceof PawlError)) throw error;
    await giveUp(parts, context, change, `no stand-in could be started: ${error.message}`);
  }
}

/** If the change repairs main, its stand-in becomes the fixer. */
async function passRepair(tx: WriteTransaction, change: Change, to: string): Promise<void> {
  const { emergency } = (await queueOf(tx.db, change.projectId)) ?? { emergency: null };
  if (emergency === null || emergency.fixerId === null || emergency.fixerId !== change.agentId) return;
  await updateQueue(tx, change.projectId, { emergency: { ...emergency, fixerId: to } });
}

async function recordReturn(
  tx: WriteTransaction,
  { change, blocking }: Discussed,
  { to, mailId, trouble }: { to: string; mailId: string | null; trouble: Trouble },
): Promise<void> {
  const comments = blocking.map(({ id }) => id);
  await updateChange(tx, change.id, { returns: change.returns + 1 });
  await changeReturns.set(tx, {
    changeId: change.id,
    head: change.head,
    ejectedAt: change.ejection?.at ?? null,
    comments,
    to,
    mailId,
  });
  const data = { changeId: change.id, to, reason: troubleText(trouble) };
  tx.emit({ type: 'change.returned', projectId: change.projectId, agentId: change.agentId, peerId: to, data });
}

/** Asks a person: sets the count of returns to its maximum. */
async function giveUp(
  { platform }: RepairParts,
  { project }: QueueContext,
  change: Change,
  reason: string,
): Promise<void> {
  await platform.store.write(async (tx) => {
    if (!(await isUnchanged(tx, change))) return;
    await updateChange(tx, change.id, { returns: limits.changeReturns });
    const data = { changeId: change.id, by: 'pawl', reason };
    tx.emit({ type: 'change.blocked', projectId: project.id, agentId: change.agentId, data });
    await noteGivenUp(tx, { platform, project, change, reason });
  });
}

/** True if the change is as it was when read. */
async function isUnchanged(tx: WriteTransaction, change: Change): Promise<boolean> {
  const now = await unmoved(tx.db, change);
  return now !== null && now.returns === change.returns && now.ejection?.at === change.ejection?.at;
}

async function troubleOf(
  parts: RepairParts,
  context: QueueContext,
  talk: Discussed,
  cause: ReturnCause,
): Promise<Trouble> {
  const { ejection } = talk.change;
  const checkId = cause === 'red' ? (ejection?.checkId ?? null) : null;
  const output = checkId === null ? '' : await outputOf(parts, checkId);
  return { cause, ejection, comments: await signed(parts, talk.blocking), target: targetOf(context), output };
}
