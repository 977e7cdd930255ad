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

export type OpenRequest = {
  asker: Asker;
  project: Project;
  branch?: string | undefined;
  title?: string | undefined;
  summary?: string | undefined;
  draft?: boolean | undefined;
  /** Proposed automatically: keeps the author's text of an existing change, and does not queue a draft. */
  byItself?: boolean;
  /** When automatically proposed work was finished: a change closed later is not reopened, even if its branch moved. */
  finishedAt?: number | null;
  /** Automatic summaries of its author's earlier turns, which a newer one replaces. */
  replaces?: readonly string[];
};

export type Opened = { change: Change; created: boolean; moved: boolean };

/** A proposal ready to be stored. */
export type Proposal = {
  request: OpenRequest;
  rules: ProjectRules;
  branch: string;
  head: string;
  base: string;
  /** The author of the commits; null for a person. */
  author: Agent | null;
  /** Made by a scripted agent outside a playground: a draft until a person merges it. */
  scripted: boolean;
  /** The given title, or one derived from the commits; `replaces` is the earlier derived title. */
  title: { given: string | null; found: string; replaces: string | null };
  summary: string | null;
};

/** Stores a proposal on the facts of this transaction. */
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

/** The same commit again: at most, the change is queued or becomes a draft again. */
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

/** True if an open change is to be checked, not a draft. An automatic proposal leaves that as it is. */
function isWanted({ request, scripted, head }: Proposal, known: Change): boolean {
  // A person's request to merge a scripted change is for the commit they saw.
  if (scripted) return known.queuedAt !== null && known.head === head && request.draft !== true;
  return request.byItself === true ? known.queuedAt !== null : request.draft !== true;
}

async function insert(tx: WriteTransaction, platform: DefinitionPlatform, proposal: Proposal): Promise<Opened> {
  const { request, branch, head, base, author, title, summary } = proposal;
  const { project } = request;
  if ((await countOpenChanges(tx.db, project.id)) >= limits.openChanges) {
    throw new PawlError('busy', `${limits.openChanges} changes of ${project.name} are already open.`, {
      hint: 'Close those that are no longer needed: pawl change ls',
    });
  }
  const agentId = author?.id ?? null;
  const last = await lastChangeOf(tx.db, project.id, { agentId, branch });
  const closed = last !== null && last.closedAt !== null && last.mergedAt === null ? last : null;
  // It may have been opened and closed since the branch was read.
  const isClosedSince = closed !== null && (closed.closedAt ?? 0) > (request.finishedAt ?? Infinity);
  if (request.byItself === true && closed !== null && (closed.head === head || isClosedSince)) {
    throw new PawlError('conflict', `The head of ${branch} was closed: ${closed.closeReason ?? 'no reason given'}.`, {
      hint: `To propose it anyway: pawl change open ${branch}`,
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

/** Copies unaddressed objections to the new change. */
async function inheritObjections(tx: WriteTransaction, closed: Change, change: Change): Promise<void> {
  for (const objection of blockingOf(await commentsOf(tx.db, closed.id))) {
    const comment = { ...objection, id: newId(), changeId: change.id };
    await insertComment(tx, comment);
    const data = { changeId: change.id, commentId: comment.id, kind: comment.kind };
    tx.emit({ type: 'change.commented', ...about(change), data });
  }
}

/**
 * Moves an open change to a new head of its branch, or of its stand-in's. Reviews and checks of the old head lapse, and
 * it goes to the end of the queue, so that frequent moves delay no other change.
 */
async function move(tx: WriteTransaction, proposal: Proposal, known: Change): Promise<Opened> {
  await refuseWhileAdvancing(tx.db, known);
  const { request, branch, head, base, author, title, summary } = proposal;
  await updateChange(tx, known.id, {
    branch,
    head,
    // A stand-in started at its head; the change's base stays.
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

/** Keeps an explicit summary when the change moves automatically. */
function keepsSummary({ byItself = false, replaces = [] }: OpenRequest, { summary }: Change): boolean {
  return byItself && summary !== '' && !replaces.includes(summary);
}

/** A given title stays; one taken from a commit's subject follows that commit when it is amended. */
function movedTitle({ given, found, replaces }: Proposal['title'], known: Change): { title?: string } {
  if (given !== null) return { title: given };
  return replaces !== null && replaces === known.title ? { title: found } : {};
}
