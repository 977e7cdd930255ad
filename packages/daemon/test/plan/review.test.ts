import { newId } from '@pawl/schema/id';
import { putPhase } from '@pawl/store/plan/plan-records';
import { insertTask } from '@pawl/store/projects/tasks';
import { aPhase, aTask } from '@pawl/testing/plan-records';
import { git } from '@pawl/testing/sample-repository';
import { waitUntil } from '@pawl/testing/wait-until';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { agentClient } from '../support/agent-client.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon } from '../support/daemon.ts';
import { committing } from '../support/errand.ts';
import { checkScript, commitFiles, configWith } from '../support/merge-queue.ts';
import { storeOf } from '../support/stores.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
  await commitFiles(daemon.repository, {
    'check.sh': checkScript(),
    '.pawl/config.yaml': configWith('sh check.sh', 'fixer: false\n'),
  });
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

async function launch({ client, scenario }: TestDaemon, planId: string, steps: unknown[]) {
  const options = { scenario: await scenario([...steps, { complete: { summary: 'did it' } }]) };
  await client.changePlan(planId, 'launch', { provider: 'scripted', options });
}

async function becomes({ client }: TestDaemon, planId: string, state: string) {
  return waitUntil(
    async () => {
      const { plan, tasks } = await client.showPlan(planId);
      if (plan.state === state) return tasks;
      throw new Error(`it is ${plan.state}: ${tasks.map((task) => `${task.state} ${task.detail}`).join('; ')}`);
    },
    { what: `the plan to be ${state}` },
  );
}

/** A plan of two phases with one task each, whose changes land on main. */
async function twoPhases({ client, repository, home }: TestDaemon, branch = false) {
  const { plan } = await client.newPlan({ path: repository, text: 'two files', branch });
  const [one, two] = [newId(), newId()];
  await storeOf(home.root).write(async (tx) => {
    const own = { initiativeId: plan.id };
    await putPhase(tx, aPhase('one', { ...own, id: one }));
    await putPhase(tx, aPhase('two', { ...own, id: two, dependsOn: [one] }));
    for (const [name, phaseId] of [
      ['a', one],
      ['b', two],
    ] as const)
      await insertTask(tx, aTask(name, { ...own, id: newId(), projectId: plan.projectId, phaseId, phase: name }));
  });
  await client.changePlan(plan.id, 'approve', { acceptWarnings: true });
  return plan.id;
}

test('a phase is reviewed with threads, revised once, and its diff stays the reviewed one [planner 18, 19, 20, 23]', async () => {
  const { client } = daemon;
  const id = await twoPhases(daemon);
  await launch(daemon, id, committing('a.txt', 'one\ntwo\nthree\n'));
  const [task] = await becomes(daemon, id, 'in_review');
  const before = await client.showReview(id);
  expect(before).toMatchObject({ phase: { name: 'one', state: 'in_review' }, files: [{ path: 'a.txt', added: 3 }] });

  // Comments: on a line that will change, on one that will move, and on the whole.
  await client.commentPhase(id, { body: 'say 2', file: 'a.txt', line: 2 });
  await client.commentPhase(id, { body: 'keep this', file: 'a.txt', line: 3 });
  await expect(client.commentPhase(id, { body: 'x', file: 'a.txt', line: 9 })).rejects.toMatchObject({
    code: 'invalid_input',
  });
  await expect(client.commentPhase(id, { body: 'x', file: '../a.txt', line: 1 })).rejects.toMatchObject({
    code: 'not_found',
  });
  await expect(client.approvePhase(id)).rejects.toMatchObject({ message: expect.stringContaining('no answer') });

  // Twice requested, once revised.
  await client.changePlan(id, 'pause');
  await client.requestChanges(id, { body: 'and a head line' });
  const { threads, tasks } = await client.requestChanges(id, { phase: 'one' });
  const { plan: revised } = await client.showPlan(id);
  // The revision is no edit of the approved content, and the same one takes a late comment.
  expect(revised).toMatchObject({ detail: expect.stringContaining('paused') });
  await client.commentPhase(id, { phase: 'one', body: 'a late one' });
  await client.requestChanges(id, { phase: 'one' });
  expect(tasks.map(({ name, revises }) => [name, revises !== null])).toEqual([
    ['a', false],
    ['revise one', true],
  ]);
  expect((await client.showReview(id, { phase: 'one' })).threads.map(({ state }) => state)).toEqual(
    Array(4).fill('sent'),
  );
  const stranger = await daemon.rested();
  const foreign = agentClient(daemon.home, stranger.id).answerThread(threads[0]?.id ?? '', 'not mine');
  await expect(foreign).rejects.toMatchObject({ code: 'forbidden' });
  await client.answerThread(threads[1]?.id.slice(0, 8) ?? '', 'it stays');

  await launch(daemon, id, [
    ...committing('a.txt', 'head\none\n2\nthree\n'),
    // Threads without an answer: it is asked once more.
    { complete: { summary: 'too early' } },
    'echo_prompt',
  ]);
  const after = await becomes(daemon, id, 'in_review');
  expect(after.map(({ name, state }) => [name, state])).toEqual([
    ['a', 'completed'],
    ['b', 'blocked'],
    ['revise one', 'completed'],
  ]);
  const review = await client.showReview(id);
  expect(review.threads.map(({ state, line, isOutdated }) => [state, line, isOutdated])).toEqual([
    ['answered', null, true],
    ['answered', 4, false],
    ['answered', null, false],
    ['answered', null, false],
  ]);
  expect(review.threads[1]?.answer).toBe('it stays');
  expect(review.threads[0]).toMatchObject({ answer: expect.stringContaining('did it') });
  const { events } = await client.events({ limit: 1000 });
  const purposes = events.flatMap(({ type, data }) => (type === 'session.planned' ? [data['purpose']] : []));
  expect(purposes.filter((purpose) => purpose === 'output')).toHaveLength(1);

  // What is approved is what was read.
  await expect(client.approvePhase(id, { hash: before.hash })).rejects.toMatchObject({ code: 'conflict' });
  expect(review.patch).toContain('+head\n+one\n+2\n+three');
  await launch(daemon, id, committing('a.txt', 'other\n'));
  const approved = await client.approvePhase(id, { hash: review.hash.slice(0, 12) });
  expect(approved.threads.map(({ state }) => state)).toEqual(Array(4).fill('resolved'));
  await becomes(daemon, id, 'in_review');
  await client.approvePhase(id);
  await becomes(daemon, id, 'completed');
  expect((await client.showReview(id, { phase: 'one' })).patch).toBe(review.patch);
  expect(await git(daemon.repository, ['show', 'main:a.txt'])).toBe('other');
  const { events: all } = await client.events({ limit: 1000 });
  const taken = all.filter(({ type, data }) => type === 'task.taken' && data['taskId'] === task?.id);
  expect(taken).toHaveLength(1);
});

test('a plan with a branch is reviewed before main has anything, lands as one change, and is reverted by another [planner 23]', async () => {
  const { client, repository } = daemon;
  const start = await git(repository, ['rev-parse', 'main']);
  const id = await twoPhases(daemon, true);
  await launch(daemon, id, committing('{agent}.txt', 'work\n'));
  await becomes(daemon, id, 'in_review');
  await expect(client.landPlan(id)).rejects.toMatchObject({ message: expect.stringContaining('is not over') });
  await client.approvePhase(id, { phase: 'one' });
  await waitUntil(async () => (await client.showReview(id, { phase: 'two' })).phase.state === 'in_review', {
    what: 'the second phase to wait for its review',
  });
  await client.approvePhase(id, { phase: 'two' });
  const { plan } = await client.showPlan(id);
  expect(plan).toMatchObject({ state: 'in_review', branch: expect.stringMatching(/^plan\/two-files-/) });
  expect(plan.detail).toContain('pawl plan land');
  // Nothing is on main, and no task was proposed by itself.
  expect(await git(repository, ['rev-parse', 'main'])).toBe(start);
  const { changes: before } = await client.listChanges({ path: repository });
  expect(before).toEqual([]);
  const reviewed = [await client.showReview(id, { phase: 'one' }), await client.showReview(id, { phase: 'two' })];

  const { changes } = await client.landPlan(id);
  expect(changes).toMatchObject([{ branch: plan.branch, title: 'two files' }]);
  await becomes(daemon, id, 'completed');
  const files = await git(repository, ['diff', '--name-only', start, 'main']);
  expect(files.split('\n').toSorted()).toEqual(
    reviewed.flatMap(({ files: own }) => own.map(({ path }) => path)).toSorted(),
  );
  // The reviewed diffs are those of main's commit.
  const patch = await git(repository, ['diff', '--no-ext-diff', start, 'main']);
  for (const path of files.split('\n')) expect(patch).toContain(`+++ b/${path}`);

  const reverted = await client.revertPlan(id);
  expect(reverted.changes).toMatchObject([{ title: 'Revert two files' }]);
  await waitUntil(async () => (await git(repository, ['diff', '--name-only', start, 'main'])) === '', {
    what: 'main to have nothing of it',
  });
  await expect(client.revertPlan(id)).rejects.toMatchObject({ code: 'conflict' });
});
