import { normalisedName } from '@pawl/core/plan/plan';
import { readPlan } from '@pawl/core/plan/plan-reading';
import { anchorAt, findAnchor, revisionText, threadState } from '@pawl/core/plan/review';
import type {
  ApprovePhaseBody,
  CommentPhaseBody,
  PhaseReview,
  RequestChangesBody,
  ThreadView,
} from '@pawl/protocol/plan/review-view';
import { crashPoint } from '@pawl/schema/crash-point';
import { PawlError } from '@pawl/schema/error';
import { newId } from '@pawl/schema/id';
import type { Anchor, Initiative, Phase, ReviewThread } from '@pawl/schema/plan/plan';
import type { Agent, Project, Task } from '@pawl/schema/record';
import { noInitiative } from '@pawl/schema/record';
import { agentById } from '@pawl/store/agents/agents';
import { putPhase } from '@pawl/store/plan/plan-records';
import { projectById } from '@pawl/store/projects/projects';
import { findThreads, insertThread, threadsOf, updateThread } from '@pawl/store/plan/reviews';
import { insertTask, updateTask } from '@pawl/store/projects/tasks';
import type { Database } from '@pawl/store/tables';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import type { DefinitionPlatform } from '../definitions/definition-platform.ts';
import type { ProjectRules } from '../project-config/project-rules.ts';
import { projectRules } from '../project-config/project-rules.ts';
import { planFacts, requiredPlan } from '../tasks/plan-facts.ts';
import { diffWork, fileReader, workHash, workOf } from './phase-work.ts';
import type { Asker } from './task-verbs.ts';
import { views } from './task-verbs.ts';

/** The work of a phase, its diff and its threads. */
export async function showReview(platform: DefinitionPlatform, planId: string, word?: string): Promise<PhaseReview> {
  const { db } = platform.store;
  const initiative = await requiredPlan(db, planId);
  const { phase, tasks, reading } = await phaseMeant(db, initiative, word);
  const rules = await rulesOf(platform, initiative);
  const works = phase.reviewed ?? (await workOf(platform, rules, tasks));
  const read = await fileReader(rules, initiative);
  const threads: ThreadView[] = [];
  for (const thread of await threadsOf(db, planId))
    if (thread.phaseId === phase.id) threads.push(await threadView(db, thread, read));
  return {
    planId,
    phase: { id: phase.id, name: phase.name, ...reading },
    tasks: await views(platform, tasks),
    works,
    hash: workHash(works),
    ...(await diffWork(rules, works)),
    threads,
  };
}

/** Approves the work of a phase as it is now, and closes its threads. */
export async function approvePhase(
  platform: DefinitionPlatform,
  planId: string,
  { phase: word, hash }: ApprovePhaseBody,
): Promise<PhaseReview> {
  const { store } = platform;
  const initiative = await requiredPlan(store.db, planId);
  const { phase, tasks, reading } = await phaseMeant(store.db, initiative, word);
  if (reading.state !== 'in_review') throw notInReview(phase, reading);
  const works = await workOf(platform, await rulesOf(platform, initiative), tasks);
  if (hash !== undefined && !workHash(works).startsWith(hash)) {
    throw new PawlError('conflict', 'The work of the phase has changed since you looked at it.', {
      hint: `Look at it again: pawl plan review ${planId.slice(0, 6)}`,
      details: { hash: workHash(works) },
    });
  }
  await store.write(async (tx) => {
    const now = await phaseMeant(tx.db, await requiredPlan(tx.db, planId), phase.id);
    if (now.reading.state !== 'in_review') throw notInReview(phase, now.reading);
    const threads = (await threadsOf(tx.db, planId)).filter(({ phaseId }) => phaseId === phase.id);
    refuseOpen(planId, threads);
    for (const { id, resolvedAt } of threads)
      if (resolvedAt === null) await updateThread(tx, id, { resolvedAt: tx.now });
    crashPoint('review.after_threads');
    await putPhase(tx, { ...now.phase, approvedAt: tx.now, reviewed: works });
    tx.emit({ type: 'phase.approved', projectId: initiative.projectId, data: { planId, phaseId: phase.id } });
  });
  return showReview(platform, planId, phase.id);
}

/** Comments on the work of a phase, or on a line of it. */
export async function commentPhase(
  platform: DefinitionPlatform,
  planId: string,
  { phase: word, body, file, line }: CommentPhaseBody,
): Promise<PhaseReview> {
  const { store } = platform;
  const initiative = await requiredPlan(store.db, planId);
  const { phase } = await phaseMeant(store.db, initiative, word);
  if ((file === undefined) !== (line === undefined))
    throw new PawlError('invalid_input', 'A comment on a line needs the file and the line.');
  const anchor =
    file === undefined || line === undefined
      ? null
      : await anchorIn(await fileReader(await rulesOf(platform, initiative), initiative), file, line);
  await store.write((tx) => addThread(tx, phase, body, anchor));
  return showReview(platform, planId, phase.id);
}

/**
 * Requests changes: one revision of the phase handles every open thread. A second request while it is under way adds its
 * threads to the same revision.
 */
export async function requestChanges(
  platform: DefinitionPlatform,
  planId: string,
  { phase: word, body }: RequestChangesBody,
): Promise<PhaseReview> {
  const phaseId = await platform.store.write(async (tx) => {
    const initiative = await requiredPlan(tx.db, planId);
    const { phase, tasks, reading } = await phaseMeant(tx.db, initiative, word);
    const underWay = tasks.find((task) => task.revises === phase.id && isOpen(task));
    if (underWay === undefined && !['in_review', 'completed'].includes(reading.state))
      throw notInReview(phase, reading);
    if (body !== undefined) await addThread(tx, phase, body, null);
    const threads = (await threadsOf(tx.db, planId)).filter((thread) => thread.phaseId === phase.id);
    const fresh = threads.filter((thread) => threadState(thread) === 'open');
    if (fresh.length === 0 && underWay !== undefined) return phase.id;
    if (fresh.length === 0) {
      throw new PawlError('invalid_input', 'No change is requested: there are no open threads.', {
        hint: `Say what to change: pawl plan changes ${planId.slice(0, 6)} "…"`,
      });
    }
    const revision = underWay ?? (await addRevision(tx, initiative, phase, tasks));
    crashPoint('review.after_revision');
    for (const { id } of fresh) await updateThread(tx, id, { revisionId: revision.id });
    const own = (await threadsOf(tx.db, planId)).filter(({ revisionId }) => revisionId === revision.id);
    await updateTask(tx, revision.id, { description: revisionText(phase, own) });
    if (phase.approvedAt !== null) await putPhase(tx, { ...phase, approvedAt: null, reviewed: null });
    const data = { planId, phaseId: phase.id, taskId: revision.id };
    tx.emit({ type: 'phase.changes_requested', projectId: initiative.projectId, data });
    return phase.id;
  });
  return showReview(platform, planId, phaseId);
}

/** Answers a thread: a person, or the agent of its revision. */
export async function answerThread(
  platform: DefinitionPlatform,
  asker: Asker,
  word: string,
  answer: string,
): Promise<PhaseReview> {
  const thread = await threadMeant(platform.store.db, word);
  await platform.store.write(async (tx) => {
    const now = await threadMeant(tx.db, thread.id);
    if (asker !== null && (asker.taskId === null || asker.taskId !== now.revisionId))
      throw new PawlError('forbidden', 'An agent may only answer the threads of its own revision.');
    if (now.resolvedAt !== null) throw new PawlError('conflict', 'The thread is closed.');
    await updateThread(tx, now.id, { answer, answeredAt: tx.now, answeredBy: asker?.id ?? null });
    await emitAnswered(tx, now, asker);
  });
  return showReview(platform, thread.initiativeId, thread.phaseId);
}

/** Closes a thread. */
export async function resolveThread(platform: DefinitionPlatform, word: string): Promise<PhaseReview> {
  const thread = await threadMeant(platform.store.db, word);
  await platform.store.write(async (tx) => {
    if (thread.resolvedAt === null) await updateThread(tx, thread.id, { resolvedAt: tx.now });
  });
  return showReview(platform, thread.initiativeId, thread.phaseId);
}

async function rulesOf(platform: DefinitionPlatform, initiative: Initiative): Promise<ProjectRules> {
  return projectRules(platform, await requiredProject(platform.store.db, initiative));
}

async function requiredProject(db: Database, { projectId }: Initiative): Promise<Project> {
  const project = await projectById(db, projectId);
  if (project === null) throw new PawlError('project_not_found', 'The project of the plan is gone.');
  return project;
}

/** The phase that a word names, or the only one in review, with its tasks and state. */
async function phaseMeant(db: Database, initiative: Initiative, word: string | undefined) {
  const facts = await planFacts(db, initiative);
  const { phases } = readPlan(facts);
  const { content } = facts;
  const isMeant = ({ id, name }: Phase) =>
    word === undefined
      ? phases.get(id)?.state === 'in_review'
      : id === word || name === word || (word.length >= 4 && id.startsWith(word));
  const found = content.phases.filter(isMeant);
  const [phase] = found;
  const reading = phase === undefined ? undefined : phases.get(phase.id);
  if (phase !== undefined && reading !== undefined && found.length === 1)
    return { phase, reading, tasks: content.tasks.filter(({ phaseId }) => phaseId === phase.id) };
  const names = (found.length > 1 ? found : content.phases).map(({ name }) => name).join(', ');
  const hint = names === '' ? 'The plan has no phases.' : `Name one: ${names}`;
  if (word === undefined)
    throw new PawlError('conflict', `${found.length === 0 ? 'No phase waits' : 'Several phases wait'} for a review.`, {
      hint,
    });
  const what = found.length === 0 ? 'no phase' : 'several phases';
  throw new PawlError(
    found.length === 0 ? 'not_found' : 'ambiguous',
    `${JSON.stringify(word)} names ${what} of the plan.`,
    { hint },
  );
}

function notInReview({ name }: Phase, { state, detail }: { state: string; detail: string }): PawlError {
  return new PawlError('conflict', `The phase ${name} is ${state}${detail === '' ? '' : `: ${detail}`}.`, {
    hint: 'A phase is reviewed when all its tasks are over; see `pawl plan show`.',
  });
}

function refuseOpen(planId: string, threads: readonly ReviewThread[]): void {
  const open = threads.filter((thread) => ['open', 'sent'].includes(threadState(thread)));
  if (open.length === 0) return;
  const list = open.map(({ id }) => id.slice(0, 8)).join(', ');
  throw new PawlError('conflict', `${open.length} threads of the review have no answer: ${list}.`, {
    hint: `Request these changes: pawl plan changes ${planId.slice(0, 6)}; or close one: pawl plan resolve ${open[0]?.id.slice(0, 8)}`,
  });
}

async function anchorIn(read: (path: string) => Promise<string | null>, file: string, line: number): Promise<Anchor> {
  const content = await read(file);
  if (content === null)
    throw new PawlError('not_found', `There is no text file ${JSON.stringify(file)} to comment on.`);
  return anchorAt(content, file, line);
}

async function addThread(tx: WriteTransaction, phase: Phase, body: string, anchor: Anchor | null): Promise<void> {
  await insertThread(tx, {
    id: newId(),
    initiativeId: phase.initiativeId,
    phaseId: phase.id,
    anchor,
    body,
    createdAt: tx.now,
    revisionId: null,
    answer: null,
    answeredAt: null,
    answeredBy: null,
    resolvedAt: null,
  });
}

const isOpen = ({ completedAt, finishedAt, cancelledAt }: Task) =>
  completedAt === null && finishedAt === null && cancelledAt === null;

async function addRevision(
  tx: WriteTransaction,
  { id: initiativeId, projectId }: Initiative,
  phase: Phase,
  tasks: readonly Task[],
): Promise<Task> {
  const count = tasks.filter(({ revises }) => revises !== null).length;
  const name = `revise ${normalisedName(phase.name) === '' ? 'the phase' : phase.name}${count === 0 ? '' : ` (${count + 1})`}`;
  const revision: Task = {
    ...noInitiative,
    id: newId(),
    projectId,
    initiativeId,
    phaseId: phase.id,
    phase: phase.name,
    name,
    description: '',
    dependsOn: [],
    files: phase.files,
    priority: 'high',
    createdBy: null,
    createdAt: tx.now,
    summary: null,
    finishedAt: null,
    completedAt: null,
    blockedReason: null,
    crashes: 0,
    agentId: null,
    revises: phase.id,
  };
  await insertTask(tx, revision);
  tx.emit({ type: 'task.added', projectId, data: { taskId: revision.id, name, phase: phase.name } });
  return revision;
}

async function emitAnswered(tx: WriteTransaction, thread: ReviewThread, asker: Agent | null): Promise<void> {
  const { projectId } = await requiredPlan(tx.db, thread.initiativeId);
  const data = { planId: thread.initiativeId, threadId: thread.id };
  tx.emit({ type: 'phase.thread_answered', projectId, agentId: asker?.id ?? null, data });
}

async function threadMeant(db: Database, word: string): Promise<ReviewThread> {
  const found = await findThreads(db, word);
  const [thread] = found;
  if (thread !== undefined && found.length === 1) return thread;
  const what = thread === undefined ? 'no review thread' : 'several review threads';
  throw new PawlError(
    thread === undefined ? 'not_found' : 'ambiguous',
    `${JSON.stringify(word.slice(0, 80))} names ${what}.`,
    {
      hint: 'See `pawl plan review`; the first 4 or more characters of an id will do.',
    },
  );
}

async function threadView(
  db: Database,
  thread: ReviewThread,
  read: (path: string) => Promise<string | null>,
): Promise<ThreadView> {
  const { anchor, answeredBy } = thread;
  const line = anchor === null ? null : findAnchor(await read(anchor.path), anchor);
  const agent = answeredBy === null ? null : await agentById(db, answeredBy);
  return {
    ...thread,
    state: threadState(thread),
    line,
    isOutdated: anchor !== null && line === null,
    answeredByAgent: agent === null ? null : { id: agent.id, alias: agent.alias },
  };
}
