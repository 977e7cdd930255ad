import type { Asker } from '@pawl/core/changes/change-rights';
import { closeChange } from '@pawl/daemon/changes/change-close';
import { commentChange } from '@pawl/daemon/changes/change-comments';
import { openChange } from '@pawl/daemon/changes/change-open';
import { approveChange, blockChange, retryChange, unblockChange } from '@pawl/daemon/changes/change-verbs';
import { diffOf } from '@pawl/daemon/changes/change-view';
import { openAtCompletion } from '@pawl/daemon/changes/changes';
import type { Change, Ejection } from '@pawl/schema/change';
import { newId } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import type { Agent } from '@pawl/schema/record';
import { insertAgent } from '@pawl/store/agents/agents';
import { commentsOf } from '@pawl/store/changes/changes';
import { updateQueue } from '@pawl/store/changes/queues';
import { insertRun } from '@pawl/store/sessions/runs';
import { expect, test } from 'vitest';
import type { TestCrew } from '../support/crew.ts';
import { openCrew } from '../support/crew.ts';
import type { Files } from '../support/merge-queue.ts';
import { commitFiles, commitOn, configWith } from '../support/merge-queue.ts';
import { agentRecord, runRecord } from '../support/records.ts';

const person: Asker = { is: 'person' };
const proposer = { id: 'worker', policy: { allow: ['Patch' as const], delegateTargets: [] }, hears: [] };
const forbidden = { code: 'forbidden' };

/** A registered agent with a branch and a commit on it. */
async function author(crew: TestCrew): Promise<{ agent: Agent; asker: Asker; commit(files: Files): Promise<string> }> {
  const branch = `work/${newId()}`;
  const family = { projectId: crew.project.id, parentId: crew.platform.rootId };
  const agent = agentRecord({ ...family, definition: 'worker', branch, baseCommit: crew.main });
  await crew.store.write((tx) => insertAgent(tx, agent));
  await commitOn(crew.root, branch, { [`${branch}.txt`]: 'x\n' });
  const commit = (files: Files) => commitOn(crew.root, branch, files, branch);
  return { agent, asker: { is: 'agent', agent, definition: proposer }, commit };
}

const openBy = async (crew: TestCrew, asker: Asker, more: { draft?: boolean; branch?: string } = {}) =>
  (await openChange(crew.platform, { asker, project: crew.project, ...more })).change;
const close = (crew: TestCrew, asker: Asker, change: Change) =>
  closeChange(crew.platform, { asker, change, reason: 'no', learnings: 'nothing' });
const say = (crew: TestCrew, asker: Asker, { id }: Change, body: string, addresses?: string) =>
  commentChange(crew.platform, { asker, changeId: id, body, addresses });
const ejectionOf = ({ head }: Change): Ejection => ({
  kind: 'red',
  reason: 'red',
  files: [],
  checkId: null,
  head,
  at: 1,
});

test('closing and reproposing a change does not remove its objections [S4-14]', async () => {
  const crew = await openCrew();
  const { asker, commit } = await author(crew);
  const first = await openBy(crew, asker);
  await blockChange(crew.platform, { asker: person, changeId: first.id, reason: 'ask me first' });
  await expect(close(crew, asker, first)).rejects.toMatchObject(forbidden);
  await say(crew, person, first, '[BLOCKING] it leaks');
  await say(crew, person, first, 'a remark');
  const settled = await say(crew, person, first, '[BLOCKING] it is slow');
  await say(crew, person, first, 'it is not', settled.id);
  await unblockChange(crew.platform, { asker: person, changeId: first.id });
  await expect(close(crew, asker, first)).rejects.toMatchObject(forbidden);
  // Whoever closes it, its objections stay.
  await blockChange(crew.platform, { asker: person, changeId: first.id, reason: 'ask me first' });
  const known = await crew.patch(first.id, { ejection: ejectionOf(first), returns: 2, retriedAt: 4 });
  await close(crew, person, first);
  const second = await openBy(crew, asker);
  expect(second.id).not.toBe(first.id);
  const { hold, ejection, returns, retriedAt } = known;
  expect(hold).not.toBeNull();
  expect(await crew.now(second.id)).toMatchObject({ hold, ejection, returns, retriedAt, approvedHead: null });
  const comments = await commentsOf(crew.store.db, second.id);
  expect(comments).toMatchObject([{ kind: 'blocking', body: '[BLOCKING] it leaks', head: first.head, agentId: null }]);
  // It is unknown if another commit fails.
  await close(crew, person, second);
  const head = await commit({ 'more.txt': 'x' });
  const third = await openBy(crew, asker);
  expect(await crew.now(third.id)).toMatchObject({ head, hold, returns, ejection: null, retriedAt: null });
  expect(await commentsOf(crew.store.db, third.id)).toHaveLength(1);
  // Objections to a merged change, or to another author's, do not carry over.
  await crew.patch(third.id, { mergedAt: 9, mergedCommit: crew.main });
  await commit({ 'next.txt': 'x' });
  for (const fresh of [await openBy(crew, asker), await openBy(crew, (await author(crew)).asker)])
    expect(fresh).toMatchObject({ hold: null, returns: 0 });
});

test('a stand-in that closes its change and proposes its own keeps the objections [S4-14]', async () => {
  const crew = await openCrew();
  const change = await openBy(crew, (await author(crew)).asker);
  const { asker, agent } = await author(crew);
  await close(crew, asker, await crew.patch(change.id, { standInId: agent.id, returns: 2 }));
  expect((await openBy(crew, asker)).returns).toBe(2);
});

test('while a change may be landing it cannot be closed or moved, but can be held, approved and objected to', async () => {
  const crew = await openCrew();
  const { asker, commit } = await author(crew);
  const change = await openBy(crew, asker);
  const advance = {
    from: crew.main,
    to: change.head,
    checkId: newId(),
    changes: [{ id: change.id, head: change.head }],
    forgeRef: null,
  };
  await crew.store.write((tx) => updateQueue(tx, crew.project.id, { advance }));
  await commit({ 'more.txt': 'x' });
  await expect(close(crew, person, change)).rejects.toMatchObject({ code: 'busy' });
  await expect(openBy(crew, asker)).rejects.toMatchObject({ code: 'busy' });
  await blockChange(crew.platform, { asker: person, changeId: change.id, reason: 'not now' });
  await unblockChange(crew.platform, { asker: person, changeId: change.id });
  await approveChange(crew.platform, { changeId: change.id });
  expect((await say(crew, person, change, '[BLOCKING] wait')).kind).toBe('blocking');
  expect(await crew.now(change.id)).toMatchObject({ approvedHead: change.head, closedAt: null });
});

test('a change that is no longer held or blocked goes to the end of the queue', async () => {
  const crew = await openCrew();
  await commitFiles(crew.root, { '.pawl/config.yaml': configWith('echo passed') });
  const { asker, agent, commit } = await author(crew);
  const { id } = await openBy(crew, asker);
  const first = await crew.patch(id, { queuedAt: 1 });
  await blockChange(crew.platform, { asker, changeId: id, reason: 'one thing more' });
  expect((await crew.now(id)).queuedAt).toBe(1);
  await unblockChange(crew.platform, { asker, changeId: id });
  expect((await crew.now(id)).queuedAt).toBeGreaterThan(1);
  const objections = [await say(crew, asker, first, '[BLOCKING] a'), await say(crew, asker, first, '[BLOCKING] b')];
  await crew.patch(id, { queuedAt: 1 });
  await say(crew, asker, first, 'done', objections[0]?.id);
  expect((await crew.now(id)).queuedAt).toBe(1);
  await say(crew, asker, first, 'done', objections[1]?.id);
  expect((await crew.now(id)).queuedAt).toBeGreaterThan(1);
  await crew.patch(id, { queuedAt: 1 });
  await commit({ 'more.txt': 'x' });
  expect((await openBy(crew, asker)).queuedAt).toBeGreaterThan(1);
  // A draft stays one.
  await crew.patch(id, { queuedAt: null, agentId: agent.id });
  await blockChange(crew.platform, { asker, changeId: id, reason: 'one thing more' });
  await unblockChange(crew.platform, { asker, changeId: id });
  expect((await crew.now(id)).queuedAt).toBeNull();
});

test('an agent gets one more attempt for each head, and none once a person is asked', async () => {
  const crew = await openCrew();
  const { asker, commit } = await author(crew);
  const change = await openBy(crew, asker);
  const retry = (who: Asker) => retryChange(crew.platform, { asker: who, changeId: change.id });
  await crew.patch(change.id, { ejection: ejectionOf(change) });
  for (let times = 0; times < 2; times++) await retry(asker);
  await crew.patch(change.id, { ejection: ejectionOf(change) });
  await expect(retry(asker)).rejects.toMatchObject(forbidden);
  await commit({ 'more.txt': 'x' });
  const moved = await openBy(crew, asker);
  await crew.patch(change.id, { ejection: ejectionOf(moved) });
  await retry(asker);
  await crew.patch(change.id, { ejection: ejectionOf(moved), retriedAt: null, returns: limits.changeReturns });
  await expect(retry(asker)).rejects.toMatchObject(forbidden);
  await retry(person);
  expect((await crew.now(change.id)).ejection).toBeNull();
});

test('an author cannot crowd out objections with comments [S4-14]', async () => {
  const crew = await openCrew();
  const { asker, agent } = await author(crew);
  const change = await openBy(crew, asker);
  const fill = async (length: number, agentId: string) => {
    for (let index = 0; index < length; index++) await crew.comment(change, 'so', { kind: 'note', agentId });
  };
  await fill(limits.changeCommentsOfOne, agent.id);
  await expect(say(crew, asker, change, 'one more')).rejects.toMatchObject({ code: 'busy' });
  const { asker: reviewer, agent: other } = await author(crew);
  await fill(limits.changeRemarks - limits.changeCommentsOfOne, crew.platform.rootId);
  await expect(say(crew, reviewer, change, 'a remark')).rejects.toMatchObject({ code: 'busy' });
  const comment = await say(crew, reviewer, change, '[BLOCKING] it leaks');
  expect(comment).toMatchObject({ kind: 'blocking', agentId: other.id });
  await say(crew, reviewer, change, 'it does not', comment.id);
  await say(crew, person, change, 'a person’s remark');
});

test('while main is red, other agents do not block its repair', async () => {
  const crew = await openCrew();
  const { asker: fixer, agent } = await author(crew);
  const { asker: other } = await author(crew);
  const { asker: reviewer, agent: reviewing } = await author(crew);
  const change = await openBy(crew, fixer);
  const own = await openBy(crew, other);
  await crew.patch(change.id, { reviewerId: reviewing.id });
  const emergency = { commit: crew.main, checkId: newId(), since: 1, fixerId: agent.id, trouble: null };
  await crew.store.write((tx) => updateQueue(tx, crew.project.id, { emergency }));
  await expect(say(crew, other, change, '[BLOCKING] no')).rejects.toMatchObject(forbidden);
  await expect(blockChange(crew.platform, { asker: fixer, changeId: change.id, reason: 'x' })).rejects.toMatchObject(
    forbidden,
  );
  await say(crew, other, change, 'I would not');
  for (const asker of [reviewer, person])
    expect((await say(crew, asker, change, '[BLOCKING] no')).kind).toBe('blocking');
  expect((await say(crew, reviewer, own, '[BLOCKING] no')).kind).toBe('blocking');
  await crew.store.write((tx) => updateQueue(tx, crew.project.id, { emergency: null }));
  expect((await say(crew, other, change, '[BLOCKING] no')).kind).toBe('blocking');
});

test('a person’s objection is settled by a person, or by a review of the new head', async () => {
  const crew = await openCrew();
  const { asker, commit } = await author(crew);
  const change = await openBy(crew, asker);
  const comment = await say(crew, person, change, '[BLOCKING] it leaks');
  const head = await commit({ 'more.txt': 'x' });
  await openBy(crew, asker);
  await expect(say(crew, asker, change, 'done', comment.id)).rejects.toMatchObject({ code: 'conflict' });
  await crew.patch(change.id, { reviewedHead: head });
  await say(crew, asker, change, 'done', comment.id);
  expect((await commentsOf(crew.store.db, change.id))[0]?.addressedAt).not.toBeNull();
});

test('a diff shows what main would gain, without what it got otherwise', async () => {
  const crew = await openCrew();
  await commitOn(crew.root, 'topic', { 'a.txt': 'a\n', 'b.txt': 'b\n' });
  await commitFiles(crew.root, { 'a.txt': 'a\n' });
  const change = await openBy(crew, person, { branch: 'topic' });
  const { files, to, from } = await diffOf(crew.platform, change);
  expect(files.map(({ path }) => path)).toEqual(['b.txt']);
  expect(to).toBe(change.head);
  expect(from).not.toBe(change.base);
  // On a conflict, it shows the branch's changes.
  await commitFiles(crew.root, { 'b.txt': 'another\n' });
  expect((await diffOf(crew.platform, change)).files.map(({ path }) => path)).toEqual(['a.txt', 'b.txt']);
});

test('a closed change reopens automatically only as a draft [S4-10]', async () => {
  const crew = await openCrew();
  await commitFiles(crew.root, { '.pawl/config.yaml': configWith('echo passed') });
  const { asker, agent, commit } = await author(crew);
  await crew.store.write((tx) => insertRun(tx, runRecord({ agentId: agent.id, projectId: crew.project.id })));
  const first = await openBy(crew, asker);
  await close(crew, person, first);
  const finish = async () => openAtCompletion(crew.platform, crew.project, await crew.view(agent.id), 'done');
  expect(await finish()).toBeNull();
  const head = await commit({ 'more.txt': 'x' });
  const second = await finish();
  expect(second).toMatchObject({ head, queuedAt: null });
  // An explicit proposal reopens it; and a merged change does not hold back the next one.
  expect((await openBy(crew, asker)).queuedAt).not.toBeNull();
  await crew.patch(second?.id ?? '', { mergedAt: 9, mergedCommit: crew.main });
  await commit({ 'next.txt': 'x' });
  expect((await finish())?.queuedAt).not.toBeNull();
});
