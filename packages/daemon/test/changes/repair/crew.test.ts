import { insertChange } from '@pawl/store/changes/changes';
import { newId } from '@pawl/schema/id';
import { queueOf, updateQueue } from '@pawl/store/changes/queues';
import { readEvents } from '@pawl/store/events';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { queueInbox } from '@pawl/daemon/queue/queue-inbox';
import { idempotencyKeys } from '@pawl/daemon/platform/idempotency';
import type { TestCrew } from '../../support/crew.ts';
import { aChange, openCrew } from '../../support/crew.ts';
import { addRestingAgents } from '../../support/resting-agents.ts';

async function alarm(crew: TestCrew): Promise<void> {
  const { id: checkId } = await crew.failedCheck('1..1\nnot ok 1 - \u001B[31mthe door\u001B[0m\n');
  const emergency = { commit: crew.main, checkId, since: 1, fixerId: null, trouble: null };
  await crew.store.write((tx) => updateQueue(tx, crew.project.id, { emergency }));
}

const fixerOf = async (crew: TestCrew) => (await queueOf(crew.store.db, crew.project.id))?.emergency?.fixerId ?? null;

test('a red main has exactly one fix worker per commit, however many passes run [S4-06, S4-07]', async () => {
  const crew = await openCrew();
  const fixer = await crew.staff([{ signal: { status: 'error', error: 'no way' } }]);
  await alarm(crew);
  await Promise.all([crew.tick({ fixer }), crew.again().tick(crew.project, { ...crew.config, fixer })]);
  const fixerId = await fixerOf(crew);
  const { agent, run } = await crew.ended(fixerId ?? '');
  expect(agent.baseCommit).toBe(crew.main);
  expect(run?.task).toContain('> not ok 1 - the door');
  expect(run?.task).toContain('- sh check.sh');
  // It has failed, and there is no second one even after the request is forgotten.
  await crew.store.write((tx) => idempotencyKeys.deleteBefore(tx, Number.MAX_SAFE_INTEGER));
  await crew.tick({ fixer });
  expect(await fixerOf(crew)).toBe(fixerId);
  expect((await crew.living()).filter(({ parentId }) => parentId !== null)).toHaveLength(1);
});

test('after a kill between the fork of the fix worker and its record, the same one is named [fault 2]', async () => {
  const crew = await openCrew();
  const fixer = await crew.staff([{ hang: {} }]);
  await alarm(crew);
  await crew.tick({ fixer });
  const first = await fixerOf(crew);
  await alarm(crew);
  await crew.again().tick(crew.project, { ...crew.config, fixer });
  expect(await fixerOf(crew)).toBe(first);
});

test('outside a playground a scripted author gets no scripted reviewer: a person is asked, with the reason', async () => {
  await using empty = await temporaryDirectory();
  const crew = await openCrew({ playground: false }, { ...process.env, PATH: empty.path });
  const author = await crew.rested();
  const { id } = await crew.open(author, { queuedAt: 1 });
  const review = { definition: 'review', provider: null, model: null, options: {} };
  await crew.tick({ review });
  expect((await crew.living()).filter(({ parentId }) => parentId !== null).map((each) => each.id)).toEqual([author.id]);
  const events = await readEvents(crew.store.db, { afterSeq: 0, limit: 1_000 });
  const [blocked] = events.filter(({ type }) => type === 'change.blocked');
  expect(blocked?.data).toMatchObject({ changeId: id, reason: expect.stringContaining('No coding agent') as string });
  // In a playground the author's provider does.
  await crew.patch(id, { reviews: 0 });
  await crew.tick({ review, playground: true });
  expect((await crew.view((await crew.now(id)).reviewerId ?? '')).agent.provider).toBe('scripted');
});

test('a fixer that cannot be started leaves the reason in the inbox, until one is [S4-07]', async () => {
  await using empty = await temporaryDirectory();
  const crew = await openCrew({ playground: false }, { ...process.env, PATH: empty.path });
  await alarm(crew);
  const fixer = { definition: 'worker', provider: null, model: null, options: {} };
  await crew.tick({ fixer });
  const reason = /no agent could be started to repair it: No coding agent is installed.* Install one: /;
  expect((await queueInbox(crew.platform)).entries).toMatchObject([
    { kind: 'emergency', detail: expect.stringMatching(reason) as string },
  ]);
  await crew.tick({ fixer });
  const events = await readEvents(crew.store.db, { afterSeq: 0, limit: 1_000 });
  expect(events.filter(({ type }) => type === 'emergency.stranded')).toMatchObject([
    { data: { commit: crew.main, reason: expect.stringContaining('No coding agent') as string } },
  ]);
  await crew.tick({ fixer: await crew.staff([{ hang: {} }]) });
  expect((await queueOf(crew.store.db, crew.project.id))?.emergency).toMatchObject({ trouble: null });
  const [entry] = (await queueInbox(crew.platform)).entries;
  expect(entry?.detail).not.toContain('could be started');
  expect(entry?.next.at(-1)).toMatch(/^pawl logs -f /);
});

test('no fixer is started if the project configures none, or the queue is off', async () => {
  const crew = await openCrew();
  await alarm(crew);
  await crew.tick();
  await crew.tick({ fixer: await crew.staff([]), enabled: false });
  expect(await fixerOf(crew)).toBeNull();
  expect(await crew.living()).toHaveLength(1);
});

test('the second of two changes for one task is closed if it cannot be merged, and its learnings are kept [S4-02]', async () => {
  const crew = await openCrew();
  const taskId = newId();
  const [author] = await addRestingAgents(crew.platform.home, [{}]);
  const winner = aChange(crew.project.id, {
    taskId,
    title: 'First',
    head: crew.main,
    mergedAt: 5,
    mergedCommit: crew.main,
  });
  await crew.store.write((tx) => insertChange(tx, winner));
  const [second, third] = [
    await crew.open(author ?? null, { taskId, title: 'Second' }),
    await crew.open(null, { taskId }),
  ];
  await crew.eject(second.id, { reason: 'it conflicts with main in a.txt' });
  await crew.tick({ fixer: await crew.staff([]) });
  await crew.tick({ fixer: await crew.staff([]) });
  const closed = await crew.now(second.id);
  expect(closed.closeReason).toContain('“First”');
  expect(closed).toMatchObject({ returns: 0, standInId: null });
  // The one that may still be merged stays.
  expect((await crew.now(third.id)).closedAt).toBeNull();
  const [event] = await crew.events('change.closed');
  expect(event?.data['learnings']).toBe(join(crew.platform.home.learnings, crew.project.name, `${second.id}.md`));
  expect(readFileSync(String(event?.data['learnings']), 'utf8')).toContain('it conflicts with main in a.txt');
  const mails = await crew.mails(author?.id ?? '');
  expect(mails.map(({ kind }) => kind)).toEqual(['system']);
  expect(mails[0]?.body).toContain('is closed: its task is done');
});
