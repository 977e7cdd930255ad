import { finishBegun } from '@pawl/daemon/changes/landing/advance';
import type { Checker } from '@pawl/daemon/checks/checker';
import { advanceOnForge, finishOnForge } from '@pawl/daemon/forge-sync/forge-advance';
import type { QueueParts } from '@pawl/daemon/queue/queue-state';
import type { Change, Queue } from '@pawl/schema/change';
import { newId } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import { queueOf, updateQueue } from '@pawl/store/changes/queues';
import { git } from '@pawl/testing/sample-repository';
import { expect, test } from 'vitest';
import { openForgeHome } from '../support/forge-home.ts';

type Advance = NonNullable<Queue['advance']>;

/** A change that is open on the forge and has passed: only the merge is left. */
async function openReady(given: Parameters<typeof openForgeHome>[0] = {}) {
  const place = await openForgeHome(given);
  await place.commit('work/a', { 'a.txt': 'a\n' });
  const change = await place.propose('work/a');
  await place.sync();
  await place.sync(limits.forgeGraceMs);
  const { server, store, project, link } = place;
  const parts = async (): Promise<QueueParts> => ({
    ...(await place.bench()),
    forge: { is: 'there', link, keepsAlarm: false },
    askedAt: null,
    checker: null as unknown as Checker,
  });
  const wanted = async ({ id, head }: Change): Promise<Advance> => {
    const from = (await place.bench()).target.tip;
    return { from, to: head, checkId: newId(), changes: [{ id, head }], forgeRef: null };
  };
  return {
    ...place,
    change,
    parts,
    wanted,
    advance: async (isStillWanted = async () => true) =>
      advanceOnForge(await parts(), link, await wanted(change), isStillWanted),
    intent: async () => (await queueOf(store.db, project.id))?.advance ?? null,
    hold: async () => (await place.changeOf(change.id)).hold?.reason ?? null,
    merges: () => server.on(({ log }) => log.filter((words) => words[1] === 'merge').length),
  };
}

const mainOf = (path: string) => git(path, ['rev-parse', 'refs/heads/main']);

test('a change that has moved since its check, or is withdrawn, is not merged there', async () => {
  await using place = await openReady();
  const { change, link } = place;
  expect(await place.advance(async () => false)).toEqual({ is: 'behind' });
  const checked = await place.wanted(change);
  await place.commit('work/a', { 'a.txt': 'unchecked\n' });
  await place.repropose(change);
  await place.sync();
  await place.sync(limits.forgeGraceMs);
  expect(await advanceOnForge(await place.parts(), link, checked, async () => true)).toEqual({ is: 'behind' });
  expect([place.merges(), await place.intent()]).toEqual([0, null]);
});

test('a merge on the forge is recorded while it is in progress, and cleared afterwards', async () => {
  await using place = await openReady();
  const { link, change } = place;
  const { merge } = link.forge;
  let meanwhile: Advance | null = null;
  link.forge.merge = async (...asked) => {
    meanwhile = await place.intent();
    return merge(...asked);
  };
  expect(await place.advance()).toEqual({ is: 'moved' });
  expect(meanwhile).toMatchObject({ changes: [{ id: change.id, head: change.head }], forgeRef: '1' });
  expect(await place.intent()).toBeNull();
  expect(await place.changeOf(change.id)).toMatchObject({ mergedCommit: await mainOf(place.server.repository) });
});

test('a merge whose response was lost is settled by the forge’s state', async () => {
  await using place = await openReady();
  const { server, change } = place;
  server.on((state) => (state.trouble = { kind: 'lost-answer', command: 'pr merge', times: 1 }));
  expect(await place.advance()).toMatchObject({ is: 'waiting' });
  const begun = await place.intent();
  if (begun === null) throw new Error('the intent is gone');
  // Only the forge knows: it has made another commit of the change than ours.
  expect(await finishBegun(await place.bench(), begun)).toBe(false);
  server.on((state) => (state.trouble = { kind: 'offline', command: 'pr view', times: 1 }));
  await expect(finishOnForge(await place.bench())).rejects.toMatchObject({ code: 'unavailable' });
  expect(await place.intent()).toEqual(begun);
  await finishOnForge(await place.bench());
  const commit = await mainOf(server.repository);
  expect(await place.changeOf(change.id)).toMatchObject({ mergedCommit: commit, head: change.head });
  expect(await place.events('change.merged', 'main.advanced')).toMatchObject([{ commit }, { to: commit }]);
  expect(await place.intent()).toBeNull();
});

test('a merge that was never requested, or that the forge does not know, is forgotten', async () => {
  await using place = await openReady();
  for (const forgeRef of ['1', '99']) {
    const begun = { ...(await place.wanted(place.change)), forgeRef };
    await place.store.write((tx) => updateQueue(tx, place.project.id, { advance: begun }));
    await finishOnForge(await place.bench());
    expect(await place.intent()).toBeNull();
  }
  expect(await place.changeOf(place.change.id)).toMatchObject({ mergedAt: null });
});

test('a change that the forge refuses is held with its reason, and retried later or on another main', async () => {
  await using place = await openReady({ server: { protection: { checks: ['theirs'], reviews: 0, upToDate: false } } });
  expect(await place.advance()).toEqual({ is: 'behind' });
  expect(await place.hold()).toContain('policy prohibits the merge');
  expect(await place.intent()).toBeNull();
  for (let look = 0; look < 3; look += 1) {
    await place.sync();
    expect(await place.hold()).toContain('policy prohibits the merge');
  }
  await place.sync();
  expect(await place.hold()).toBeNull();
  expect(await place.advance()).toEqual({ is: 'behind' });
  await place.server.push('main', { 'm.txt': 'm\n' });
  await place.sync();
  expect(await place.hold()).toBeNull();
  expect(place.merges()).toBe(2);
});

test('a change in the forge’s merge queue, or without permission to merge, blocks no other', async () => {
  await using place = await openReady({ server: { mergeQueue: true } });
  expect(await place.advance()).toEqual({ is: 'behind' });
  expect(await place.hold()).toBe('the merge queue of github has it');
  await place.sync(limits.forgeRetryMs);
  place.server.on((state) => (state.trouble = { kind: 'forbidden', command: 'pr merge', times: 1 }));
  expect(await place.advance()).toEqual({ is: 'behind' });
  expect(await place.hold()).toContain('does not let you do that');
  // Ask if it was merged anyway.
  expect(await place.intent()).toMatchObject({ forgeRef: '1' });
  await finishOnForge(await place.bench());
  expect(await place.intent()).toBeNull();
});

test('a change that conflicts there is ejected; if main has moved meanwhile, our own pass finds it', async () => {
  await using place = await openReady();
  const { link, server, change } = place;
  const { merge, view } = link.forge;
  link.forge.merge = async (...asked) => {
    await server.push('main', { 'a.txt': 'theirs\n' });
    return merge(...asked);
  };
  expect(await place.advance()).toEqual({ is: 'behind' });
  expect(await place.changeOf(change.id)).toMatchObject({ ejection: null, hold: null });
  let mergeable: 'unknown' | 'no' = 'unknown';
  link.forge.view = async (ref) => ({ ...(await view(ref)), mergeable });
  link.forge.merge = async () => ({ do: 'refused', why: 'conflict', reason: 'Pull Request is not mergeable' });
  expect(await place.advance()).toEqual({ is: 'behind' });
  expect(await place.changeOf(change.id)).toMatchObject({ ejection: null });
  expect(await place.hold()).toBe('Pull Request is not mergeable');
  mergeable = 'no';
  expect(await place.advance()).toEqual({ is: 'behind' });
  const { ejection } = await place.changeOf(change.id);
  expect(ejection).toMatchObject({ kind: 'conflict', head: change.head, reason: /conflicts with main on github/ });
  expect(await place.intent()).toBeNull();
});
