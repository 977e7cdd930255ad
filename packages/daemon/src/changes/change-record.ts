import { blockingOf } from '@pawl/core/changes/change-comment';
import type { Asker } from '@pawl/core/changes/change-rights';
import { nameOf } from '@pawl/core/changes/change-rights';
import { inheritedFrom, newChange } from '@pawl/core/changes/change-life';
import type { Change } from '@pawl/schema/change';
import { PawlError } from '@pawl/schema/error';
import { newId } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import type { Agent, Project } from '@pawl/schema/record';
import { countOpenChanges, lastChangeOf, openChangeOfStandIn } from '@pawl/store/changes/change-search';
import { commentsOf, insertChange, insertComment, openChangeOf, updateChange } from '@pawl/store/changes/changes';
import { beginQueue } from '@pawl/store/changes/queues';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import type { DefinitionPlatform } from '../definitions/definition-platform.ts';
import { about, changeNow, refuseWhileAdvancing } from './change-now.ts';
import { emitQueued } from './change-queued.ts';
import type { ProjectRules } from '../project-config/project-rules.ts';
import { noteOpened } from './notices.ts';

/** What is proposed, and by whom. */
export type OpenRequest = {
  asker: Asker;
  project: Project;
  branch?: string | undefined;
  title?: string | undefined;
  summary?: string | undefined;
  draft?: boolean | undefined;
  /** Nobody asked for it: what its author has said of a change that is there stays, and one that is not queued stays so. */
  byItself?: boolean;
  /** When the work was finished that is proposed by itself: a change that was closed later is not opened again, though its branch moved. */
  finishedAt?: number | null;
  /** Summaries that its author's earlier turns left by themselves: a newer one takes their place. */
  replaces?: readonly string[];
};

export type Opened = { change: Change; created: boolean; moved: boolean };

/** What was found at a branch, ready to be written down. */
export type Proposal = {
  request: OpenRequest;
  rules: ProjectRules;
  branch: string;
  head: string;
  base: string;
  /** Who made what is on the branch; null for a person. */
  author: Agent | null;
  /** Made by the scripted stand-in outside a playground: a draft until a person merges it. */
  scripted: boolean;
  /** As it was given, or else as it follows from the commits; `replaces` is the earlier one that the found title supersedes. */
  title: { given: string | null; found: string; replaces: string | null };
  summary: string | null;
};

/** Writes a proposal down, on the facts of this very transaction. */
export async function recordProposal(
  tx: WriteTransaction,
  platform: DefinitionPlatform,
  proposal: Proposal,
): Promise<Opened> {
  const { request, rules, branch, head, author } = proposal;
  const { project } = request;
  await beginQueue(tx, project.id, rules.branch);
  const own = await openChangeOf(tx.db, project.id, branch);
  const inPlace = author === null ? null : await openChangeOfStandIn(tx.db, project.id, author.id);
  const known = own ?? inPlace;
  if (known === null) return insert(tx, platform, proposal);
  if (known.head === head && known.branch === branch) return wish(tx, proposal, known);
  return move(tx, proposal, known);
}

/** The same commit once more: what is new is at the most whether it is wanted now, or a draft again. */
async function wish(tx: WriteTransaction, proposal: Proposal, known: Change): Promise<Opened> {
  const { asker } = proposal.request;
  const queuedAt = isWanted(proposal, known) ? (known.queuedAt ?? tx.now) : null;
  const change = { ...known, queuedAt };
  if (queuedAt !== known.queuedAt) {
    await updateChange(tx, known.id, { queuedAt });
    if (queuedAt !== null) emitQueued(tx, change, asker);
    else tx.emit({ type: 'change.drafted', ...about(change), data: { changeId: change.id, by: nameOf(asker) } });
  }
  return { change, created: false, moved: false };
}

/** Whether an open change is to be checked, and so is no draft. An automatic proposal leaves that as it is. */
function isWanted({ request, scripted, head }: Proposal, known: Change): boolean {
  // A person's wish to merge a stand-in's change is about the commit that they saw.
  if (scripted) return known.queuedAt !== null && known.head === head && request.draft !== true;
  return request.byItself === true ? known.queuedAt !== null : request.draft !== true;
}

async function insert(tx: WriteTransaction, platform: DefinitionPlatform, proposal: Proposal): Promise<Opened> {
  const { request, branch, head, base, author, title, summary } = proposal;
  const { project } = request;
  if ((await countOpenChanges(tx.db, project.id)) >= limits.openChanges) {
    throw new PawlError('busy', `${limits.openChanges} changes of ${project.name} are open already.`, {
      hint: 'Close what nobody wants any more: pawl change ls',
    });
  }
  const agentId = author?.id ?? null;
  const last = await lastChangeOf(tx.db, project.id, { agentId, branch });
  const closed = last !== null && last.closedAt !== null && last.mergedAt === null ? last : null;
  // It may have been opened and closed since the branch was looked at.
  const isClosedSince = closed !== null && (closed.closedAt ?? 0) > (request.finishedAt ?? Infinity);
  if (request.byItself === true && closed !== null && (closed.head === head || isClosedSince)) {
    throw new PawlError('conflict', `What ${branch} is at was closed: ${closed.closeReason ?? 'no reason is given'}.`, {
      hint: `If it is wanted after all: pawl change open ${branch}`,
    });
  }
  const change = newChange({
    id: newId(),
    projectId: project.id,
    agentId,
    taskId: author?.taskId ?? null,
    branch,
    head,
    base,
    title: title.given ?? title.found,
    summary: summary ?? '',
    openedAt: tx.now,
    queuedAt: request.draft === true || proposal.scripted ? null : tx.now,
    ...(closed === null ? {} : inheritedFrom(closed, head)),
  });
  await insertChange(tx, change);
  const data = { changeId: change.id, branch, head, title: change.title };
  tx.emit({ type: 'change.opened', ...about(change), data });
  if (closed !== null) await inheritObjections(tx, closed, change);
  if (change.queuedAt !== null) emitQueued(tx, change, request.asker);
  await noteOpened(tx, { platform, project, change });
  return { change, created: true, moved: false };
}

/** What was said against a change, and never addressed, is still against it under another id. */
async function inheritObjections(tx: WriteTransaction, closed: Change, change: Change): Promise<void> {
  for (const objection of blockingOf(await commentsOf(tx.db, closed.id))) {
    const comment = { ...objection, id: newId(), changeId: change.id };
    await insertComment(tx, comment);
    const data = { changeId: change.id, commentId: comment.id, kind: comment.kind };
    tx.emit({ type: 'change.commented', ...about(change), data });
  }
}

/**
 * Lets an open change follow its branch, or that of who goes on with it. What was said of its old head lapses: it is
 * looked at, reviewed and checked anew, at the end of the queue: so who moves on often keeps nobody else from going in.
 */
async function move(tx: WriteTransaction, proposal: Proposal, known: Change): Promise<Opened> {
  await refuseWhileAdvancing(tx.db, known);
  const { request, branch, head, base, author, title, summary } = proposal;
  await updateChange(tx, known.id, {
    branch,
    head,
    // Who goes on with it began at its head; what it brings begins where it began.
    base: branch === known.branch ? base : known.base,
    agentId: author?.id ?? known.agentId,
    ...movedTitle(title, known),
    ...(summary === null || keepsSummary(request, known) ? {} : { summary }),
    queuedAt: isWanted(proposal, known) ? tx.now : null,
    retriedAt: null,
    findings: [],
    examinedHead: null,
    reviews: 0,
  });
  const change = await changeNow(tx.db, known.id);
  const data = { changeId: change.id, from: known.head, head };
  tx.emit({ type: 'change.moved', ...about(change), data });
  if (change.queuedAt !== null) emitQueued(tx, change, request.asker);
  return { change, created: false, moved: true };
}

/** Keeps a summary that was given explicitly when the change moves by itself. */
function keepsSummary({ byItself = false, replaces = [] }: OpenRequest, { summary }: Change): boolean {
  return byItself && summary !== '' && !replaces.includes(summary);
}

/** A title that was given counts; one that was a commit's subject follows that commit when it is amended. */
function movedTitle({ given, found, replaces }: Proposal['title'], known: Change): { title?: string } {
  if (given !== null) return { title: given };
  return replaces !== null && replaces === known.title ? { title: found } : {};
}
