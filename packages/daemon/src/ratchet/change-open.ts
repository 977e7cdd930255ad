import type { Asker } from '@pawl/core/ratchet/change-rights';
import { isEjected } from '@pawl/core/ratchet/change-state';
import { checkChangeText, checkTitle, titleFrom } from '@pawl/core/ratchet/change-text';
import { checkBranchName } from '@pawl/git/branch-name';
import { mergeBase } from '@pawl/git/change-diff';
import { commitSubject } from '@pawl/git/commit-subject';
import { withLock } from '@pawl/git/lock';
import { isAncestor } from '@pawl/git/merge-step';
import { importCommits } from '@pawl/git/queue-objects';
import { branchTip } from '@pawl/git/repository';
import type { Change } from '@pawl/schema/change';
import { crashPoint } from '@pawl/schema/crash-point';
import { PawlError } from '@pawl/schema/error';
import { newId } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import type { Agent, Project } from '@pawl/schema/record';
import { agentOfBranch, countOpenChanges, openChangeOfStandIn } from '@pawl/store/change-search';
import { changeById, insertChange, openChangeOf, updateChange } from '@pawl/store/changes';
import { landedHeads } from '@pawl/store/landed-changes';
import { beginQueue } from '@pawl/store/queues';
import { runsOf } from '@pawl/store/runs';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import { redactionOf } from '../service/redaction.ts';
import type { Workshop } from '../workshop.ts';
import { emitQueued } from './change-queued.ts';
import type { ProjectRules } from './change-rules.ts';
import { projectRules } from './change-rules.ts';
import { refuseWhileAdvancing } from './change-verbs.ts';
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
};

/** `tell` are those who have mail about it now. */
export type Opened = { change: Change; created: boolean; moved: boolean; tell: string[] };

/**
 * Proposes the commit that a branch is at. The commit is brought into Pawl's own git directory first, so that nothing which
 * becomes of the branch takes it away; then change and event are written. A branch that has an open change moves
 * it on, and proposing the same commit again does nothing.
 */
export async function openChange(shop: Workshop, request: OpenRequest): Promise<Opened> {
  const branch = branchMeant(request);
  // Of two at once, the one that looks later is written later.
  return withLock(`change:${request.project.id}:${branch}`, async () => {
    const proposal = await propose(shop, request, branch);
    const opened = await shop.store.write((tx) => record(tx, shop, proposal));
    crashPoint('change.after_open');
    return opened;
  });
}

function branchMeant({ asker, branch }: OpenRequest): string {
  if (asker.is === 'person') {
    if (branch !== undefined) return checkBranchName(branch);
    throw new PawlError('invalid_input', 'It is not said which branch is proposed.', {
      hint: 'Name it: pawl change open <branch>',
    });
  }
  const { agent } = asker;
  if (agent.kind !== 'main') throw new PawlError('forbidden', 'A subagent proposes nothing; its main does.');
  if (agent.branch === null) {
    throw new PawlError('conflict', `${agent.alias} has no branch of its own, so it has nothing to propose.`);
  }
  if (branch === undefined || branch === agent.branch) return agent.branch;
  throw new PawlError('forbidden', `An agent may propose its own branch only, which is ${agent.branch}.`);
}

type Proposal = {
  request: OpenRequest;
  rules: ProjectRules;
  branch: string;
  head: string;
  base: string;
  /** Who made what is on the branch; null for a person. */
  author: Agent | null;
  /** As they were given, or else as they follow from what is known. */
  title: { given: string | null; found: string };
  summary: string | null;
};

/** Looks at the branch, refuses what cannot be proposed, and makes its commits safe. */
async function propose(shop: Workshop, request: OpenRequest, branch: string): Promise<Proposal> {
  const { asker, project } = request;
  const rules = await projectRules(shop, project);
  const { repository, ownDir, tips } = rules;
  if (branch === rules.branch) {
    throw new PawlError('conflict', `${branch} is the branch that changes go to; it cannot be proposed for itself.`, {
      hint: 'Commit on a branch of its own: git switch -c <branch>',
    });
  }
  const head = await branchTip(repository, branch);
  if (head === null) {
    throw new PawlError('not_found', `There is no branch ${branch} in ${project.root}.`, { hint: 'See `git branch`.' });
  }
  for (const tip of tips) {
    if (!(await isAncestor(repository, ownDir, head, tip))) continue;
    throw new PawlError('conflict', `${branch} has no commits that ${rules.branch} has not.`, {
      hint: 'Commit what you have done first.',
    });
  }
  // Squashed into one, its commits are not those of the target branch, which has all of them nevertheless.
  if ((await landedHeads(shop.store.db, project.id, { branch, base: head })).includes(head)) {
    throw new PawlError('conflict', `What ${branch} is at has been merged already.`, {
      hint: 'Commit something more first, best on top of the target branch.',
    });
  }
  await importCommits(repository, ownDir, { tips: [head], not: tips });
  const author = asker.is === 'agent' ? asker.agent : await agentOfBranch(shop.store.db, project.id, branch);
  const clean = await redactionOf(shop, asker.is === 'agent' ? asker.agent.id : null);
  const { title, summary } = request;
  const task = author === null ? null : await taskOf(shop, author);
  const subject = await commitSubject(repository, ownDir, head);
  const ofAuthor = await redactionOf(shop, author?.id ?? null);
  return {
    request,
    rules,
    branch,
    head,
    base: await baseOf(rules, head, author),
    author,
    title: {
      given: title === undefined ? null : checkTitle(clean(title)),
      found: ofAuthor(titleFrom([task, subject])),
    },
    summary: summary === undefined ? null : checkChangeText('summary', clean(summary)),
  };
}

/** Where a branch began: where its author did, as long as that is still in it, else where it left the target branch. */
async function baseOf({ repository, ownDir, tips }: ProjectRules, head: string, author: Agent | null): Promise<string> {
  const began = author?.baseCommit ?? null;
  if (began !== null && (await isAncestor(repository, ownDir, began, head))) return began;
  const [tip = head] = tips;
  return (await mergeBase(repository, ownDir, tip, head)) ?? tip;
}

async function taskOf(shop: Workshop, agent: Agent): Promise<string | null> {
  const [first] = await runsOf(shop.store.db, agent.id);
  return first?.task ?? null;
}

/** Writes a proposal down, on the facts of this very transaction. */
async function record(tx: WriteTransaction, shop: Workshop, proposal: Proposal): Promise<Opened> {
  const { request, rules, branch, head, author } = proposal;
  const { project } = request;
  await beginQueue(tx, project.id, rules.branch);
  const own = await openChangeOf(tx.db, project.id, branch);
  const inPlace = author === null ? null : await openChangeOfStandIn(tx.db, project.id, author.id);
  const known = own ?? inPlace;
  if (known === null) return insert(tx, shop, proposal);
  if (known.head === head && known.branch === branch) return { change: known, created: false, moved: false, tell: [] };
  return move(tx, proposal, known);
}

async function insert(tx: WriteTransaction, shop: Workshop, proposal: Proposal): Promise<Opened> {
  const { request, rules, branch, head, base, author, title, summary } = proposal;
  const { project } = request;
  if ((await countOpenChanges(tx.db, project.id)) >= limits.openChanges) {
    throw new PawlError('busy', `${limits.openChanges} changes of ${project.name} are open already.`, {
      hint: 'Close what nobody wants any more: pawl change ls',
    });
  }
  const change: Change = {
    id: newId(),
    projectId: project.id,
    agentId: author?.id ?? null,
    taskId: author?.taskId ?? null,
    branch,
    head,
    base,
    title: title.given ?? title.found,
    summary: summary ?? '',
    openedAt: tx.now,
    queuedAt: rules.config.auto && request.draft !== true ? tx.now : null,
    retriedAt: null,
    isolatedAt: null,
    hold: null,
    findings: [],
    approvedHead: null,
    ejection: null,
    examinedHead: null,
    reviewedHead: null,
    reviewerId: null,
    reviews: 0,
    standInId: null,
    returns: 0,
    forgeRef: null,
    mergedAt: null,
    mergedCommit: null,
    closedAt: null,
    closeReason: null,
  };
  await insertChange(tx, change);
  const data = { changeId: change.id, branch, head, title: change.title };
  tx.emit({ type: 'change.opened', projectId: project.id, agentId: change.agentId, data });
  if (change.queuedAt !== null) emitQueued(tx, change, request.asker);
  return { change, created: true, moved: false, tell: await noteOpened(tx, { shop, project, change }) };
}

/**
 * Lets an open change follow its branch, or that of who goes on with it. What was said of its old head lapses: it is
 * looked at, reviewed and checked anew. One that was put out takes its place at the end of the queue.
 */
async function move(tx: WriteTransaction, proposal: Proposal, known: Change): Promise<Opened> {
  await refuseWhileAdvancing(tx.db, known);
  const { request, rules, branch, head, base, author, title, summary } = proposal;
  const isWanted =
    known.queuedAt !== null || (rules.config.auto && request.draft !== true && request.byItself !== true);
  const queuedAt = isEjected(known) ? tx.now : (known.queuedAt ?? tx.now);
  await updateChange(tx, known.id, {
    branch,
    head,
    // Who goes on with it began at its head; what it brings begins where it began.
    base: branch === known.branch ? base : known.base,
    agentId: author?.id ?? known.agentId,
    ...(title.given === null ? {} : { title: title.given }),
    ...(summary === null || (request.byItself === true && known.summary !== '') ? {} : { summary }),
    queuedAt: isWanted ? queuedAt : null,
    findings: [],
    examinedHead: null,
    reviews: 0,
  });
  const change = await changeById(tx.db, known.id);
  if (change === null) throw new PawlError('internal', `The change ${known.id} has gone.`);
  const data = { changeId: change.id, from: known.head, head };
  tx.emit({ type: 'change.moved', projectId: change.projectId, agentId: change.agentId, data });
  if (change.queuedAt !== null && change.queuedAt !== known.queuedAt) emitQueued(tx, change, request.asker);
  return { change, created: false, moved: true, tell: [] };
}
