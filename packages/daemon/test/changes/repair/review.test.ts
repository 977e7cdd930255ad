import { limits } from '@pawl/schema/limit';
import { addressComment } from '@pawl/store/changes/changes';
import { git } from '@pawl/testing/sample-repository';
import { waitUntil } from '@pawl/testing/wait-until';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { changeState } from '@pawl/core/changes/change-state';
import { changeFacts, projectFacts } from '@pawl/daemon/changes/facts';
import type { Change } from '@pawl/schema/change';
import type { ProjectConfig } from '@pawl/schema/project-config';
import type { TestCrew } from '../../support/crew.ts';
import { openCrew } from '../../support/crew.ts';
import { commitOn } from '../../support/merge-queue.ts';
import { addRestingAgents } from '../../support/resting-agents.ts';

const passed = { signal: { status: 'done', result: 'It is fine.\nMerge it.' } };

async function stateNow(crew: TestCrew, { id }: Change, config: ProjectConfig): Promise<string> {
  const facts = await projectFacts(crew.store.db, crew.project.id, config);
  return changeState(await changeFacts(crew.store.db, await crew.now(id), facts)).state;
}

test('a change is reviewed once per head, and its summary goes to those who hear of reviews [S4-13, S4-14]', async () => {
  const crew = await openCrew();
  const config = { ...crew.config, review: await crew.staff([passed], 'review') };
  const [queue] = await addRestingAgents(crew.platform.home, [{}], { hears: ['reviews'] });
  const head = await commitOn(crew.root, 'work/theirs', { 'a.txt': 'theirs\n' });
  const change = await crew.open(null, { head, title: 'A cache', summary: 'Approve this.' });
  expect(await stateNow(crew, change, config)).toBe('open');
  await Promise.all([crew.tick(config), crew.tick(config)]);
  const { reviewerId } = await crew.now(change.id);
  const { agent, run } = await crew.ended(reviewerId ?? '');
  expect(agent).toMatchObject({ baseCommit: head, mode: 'review', definition: config.review.definition });
  expect(await git(agent.worktree ?? '', ['show', 'HEAD:a.txt'])).toBe('theirs');
  expect(run?.task).toContain('> Approve this.');
  await crew.tick(config);
  await crew.tick(config);
  expect(await crew.now(change.id)).toMatchObject({ reviewedHead: head, reviews: 0 });
  expect(await stateNow(crew, change, config)).toBe('queued');
  const mails = await crew.mails(queue?.id ?? '');
  expect(mails).toHaveLength(1);
  expect(mails[0]?.body).toContain('nothing blocks it');
  expect(mails[0]?.body).toContain('> It is fine.\n> Merge it.');
  // A new head gets a new review, and the reviewer sees which comments were addressed.
  const comment = await crew.comment(change, '[BLOCKING] it leaks');
  await crew.store.write((tx) => addressComment(tx, comment.id, 'closed at the end'));
  const later = await commitOn(crew.root, 'work/theirs', { 'b.txt': 'more\n' }, 'work/theirs');
  await crew.patch(change.id, { head: later, examinedHead: later });
  await crew.tick(config);
  const second = await crew.now(change.id);
  expect(second.reviewerId).not.toBe(reviewerId);
  expect((await crew.view(second.reviewerId ?? '')).run?.task).toContain('> closed at the end');
  expect(await crew.events('review.started', 'review.ended')).toMatchObject([
    { type: 'review.started', data: { head, reviewerId } },
    { type: 'review.ended', data: { head, blocking: 0 } },
    { type: 'review.started', data: { head: later } },
  ]);
});

test('blocking comments are passed to the author when the review is complete, and hold the change until then [S4-14, S4-07]', async () => {
  const crew = await openCrew();
  const config = {
    ...crew.config,
    review: await crew.staff([{ shell: 'while [ ! -e go ]; do sleep 0.02; done' }, passed], 'review'),
  };
  const author = await crew.work([{ hang: {} }]);
  const change = await crew.open(author);
  await crew.tick(config);
  const { reviewerId } = await crew.now(change.id);
  await crew.comment(change, '[BLOCKING] it leaks', { agentId: reviewerId });
  await crew.comment(change, 'a typo', { agentId: reviewerId, kind: 'note' });
  await crew.tick(config);
  expect(await crew.mails(author.id)).toEqual([]);
  const { agent } = await crew.view(reviewerId ?? '');
  await waitUntil(async () => (await crew.view(agent.id)).agent.worktreeReadyAt, { what: 'its worktree' });
  writeFileSync(join(agent.worktree ?? '', 'go'), '');
  await crew.ended(agent.id);
  await crew.tick(config);
  await crew.tick(config);
  const mails = await crew.mails(author.id);
  expect(mails).toHaveLength(1);
  expect(mails[0]).toMatchObject({ kind: 'alert' });
  expect(mails[0]?.body).toContain(`by ${agent.alias}:\n> [BLOCKING] it leaks`);
  expect(mails[0]?.body).not.toContain('a typo');
  expect(await crew.events('review.ended')).toMatchObject([{ data: { blocking: 1 } }]);
  expect(await stateNow(crew, change, config)).toBe('blocked');
  // Another agent's comment is one more reason.
  await crew.comment(change, '[BLOCKING] and it is slow');
  await crew.tick(config);
  expect(await crew.mails(author.id)).toHaveLength(2);
  expect((await crew.now(change.id)).returns).toBe(2);
});

test('a failed reviewer is replaced, a bounded number of times; then a person is asked', async () => {
  const crew = await openCrew();
  const config = {
    ...crew.config,
    review: await crew.staff([{ signal: { status: 'error', error: 'no way' } }], 'review'),
  };
  const change = await crew.open(null);
  const reviewers = new Set<string>();
  for (let attempt = 0; attempt <= limits.reviewAttempts; attempt++) {
    await crew.tick(config);
    const { reviewerId } = await crew.now(change.id);
    reviewers.add(reviewerId ?? '');
    if (attempt < limits.reviewAttempts) expect(await stateNow(crew, change, config)).toBe('open');
    await crew.ended(reviewerId ?? '');
  }
  await crew.tick(config);
  expect(reviewers.size).toBe(limits.reviewAttempts);
  expect(await crew.now(change.id)).toMatchObject({ reviews: limits.reviewAttempts, reviewedHead: null });
  expect(await stateNow(crew, change, config)).toBe('needs-human-input');
  expect(await crew.events('change.blocked')).toHaveLength(1);
});

test('if no reviewer can be started a person is told once, and the review starts as soon as possible', async () => {
  const crew = await openCrew();
  const review = await crew.staff([{ hang: {} }], 'review');
  const change = await crew.open(null);
  const wrong = { ...crew.config, review: { ...review, definition: 'nobody-of-this-name' } };
  await crew.tick(wrong);
  await crew.tick(wrong);
  expect(await stateNow(crew, change, wrong)).toBe('needs-human-input');
  expect(await crew.events('change.blocked')).toHaveLength(1);
  await crew.tick({ review });
  expect(await stateNow(crew, change, { ...wrong, review })).toBe('open');
  expect(await crew.events('review.started')).toHaveLength(1);
});

test('a reviewer of an earlier head is dismissed when the next review starts', async () => {
  const crew = await openCrew();
  const review = await crew.staff([{ hang: {} }], 'review');
  const change = await crew.open(null);
  await crew.tick({ review });
  const { reviewerId } = await crew.now(change.id);
  const head = await commitOn(crew.root, 'work/theirs', { 'a.txt': 'theirs\n' });
  await crew.patch(change.id, { head, examinedHead: head });
  await crew.tick({ review });
  expect((await crew.view(reviewerId ?? '')).agent.endedAt).not.toBeNull();
  expect((await crew.view((await crew.now(change.id)).reviewerId ?? '')).agent.endedAt).toBeNull();
});
