import { newId } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import { expect, test } from 'vitest';
import { minuteMs, openFleet } from './fleet.ts';

const day = 24 * 60;
const texts = {
  supervisor: 'Status check: Review worker progress and check merge queue.',
  'merge-queue': 'Status check: Review open PRs and check CI status.',
  worker: 'Status check: Update on your progress?',
  review: 'Status check: Update on your review progress?',
};

const everyTwoMinutes = (minutes: number) => Array.from({ length: minutes / 2 }, (_, index) => index * 2);

test('fixed nudges every agent that could answer with its own text every two minutes, and no other [S4-27, S4-28, S4-12, 7.21]', async () => {
  const fleet = await openFleet({ nudges: 'fixed' });
  const able = {
    supervisor: await fleet.add('supervisor', 'resting'),
    'merge-queue': await fleet.add('merge-queue', 'resting'),
    worker: await fleet.add('worker', 'working'),
    review: await fleet.add('review', 'working'),
  };
  await fleet.add('workspace', 'resting');
  await fleet.add('supervisor', 'new');
  await fleet.add('worker', 'resting');
  await fleet.update((await fleet.add('worker', 'working')).id, { endedAt: fleet.clock.now });
  await fleet.update((await fleet.add('worker', 'working')).id, { stopRequestedAt: fleet.clock.now });
  await fleet.end((await fleet.add('supervisor', 'working')).id, 'failed');
  const nudged = await fleet.live(60);
  for (const [role, { id }] of Object.entries(able)) {
    expect(nudged[id], role).toEqual({ minutes: everyTwoMinutes(60), texts: [texts[role as keyof typeof texts]] });
  }
  expect(Object.keys(nudged)).toHaveLength(4);
});

test('an idle fleet costs nothing for a day: no mail, no turn, and no event after the first tick [7.21, field note 9]', async () => {
  const fleet = await openFleet({ nudges: 'smart' });
  const keepers = [await fleet.add('supervisor', 'resting'), await fleet.add('merge-queue', 'resting')];
  for (let number = 0; number < 2; number++) await fleet.add('worker', 'resting');
  await fleet.add('workspace', 'resting');
  // The first agent has one piece of news: the others.
  await fleet.live(10);
  const before = { events: fleet.store.lastSeq(), runs: await fleet.count('run.started') };
  expect(before.runs).toBe(7);
  fleet.clock.now += minuteMs;
  const nudged = await fleet.live(day);
  expect(Object.values(nudged).flatMap(({ minutes }) => minutes.filter((minute) => minute >= 0))).toEqual([]);
  expect(fleet.store.lastSeq()).toBe(before.events);
  expect(await fleet.count('run.started')).toBe(before.runs);
  expect((await fleet.reasons(keepers[0]?.id ?? '')).at(-1)).toBe('unchanged');
  // Events that are not news cost nothing either.
  const hours = Array.from({ length: 24 }, (_, hour) => hour * 60);
  const noise = () => fleet.emit({ type: 'agent.unstuck', agentId: keepers[1]?.id ?? '', data: {} });
  await fleet.live(day, { at: Object.fromEntries(hours.map((minute) => [minute, noise])) });
  expect(fleet.store.lastSeq()).toBe(before.events + 24);
});

test('a smart day: news bring one nudge, work of others brings them after 2, 4, 8, 16, 30 minutes, then all is quiet [7.21, 6.2.3]', async () => {
  const fleet = await openFleet({ nudges: 'smart' });
  const supervisor = await fleet.add('supervisor', 'resting');
  const queue = await fleet.add('merge-queue', 'resting');
  await fleet.add('workspace', 'resting');
  await fleet.live(10);
  fleet.clock.now += minuteMs;
  let worker = '';
  const nudged = await fleet.live(day, {
    at: {
      60: async () => {
        ({ id: worker } = await fleet.add('worker', 'working'));
      },
      200: () => fleet.end(worker),
      400: () => fleet.emit({ type: 'task.added', data: { taskId: newId(), name: 'x', phase: '' } }),
      401: () => fleet.emit({ type: 'task.added', data: { taskId: newId(), name: 'y', phase: '' } }),
      600: () => fleet.mail(supervisor.id, 'system'),
      700: () => fleet.mail(supervisor.id, 'message'),
    },
  });
  const [looks, others] = [nudged[supervisor.id], nudged[queue.id]];
  const expected = [60, 62, 66, 74, 90, 120, 150, 180, 200, 400, 402];
  expect(looks?.minutes.filter((minute) => minute >= 0)).toEqual([...expected, 600]);
  expect(others?.minutes.filter((minute) => minute >= 0)).toEqual(expected);
  expect([looks?.texts, others?.texts]).toEqual([[texts.supervisor], [texts['merge-queue']]]);
  expect(Object.keys(nudged), 'neither the worker nor the workspace').toHaveLength(2);
  expect(await fleet.reasons(worker)).toEqual(['mid-turn', 'done']);
});

test('a mailbox full of old news is read to its end, page by page', async () => {
  const fleet = await openFleet({ nudges: 'smart' });
  const supervisor = await fleet.add('supervisor', 'resting');
  await fleet.store.write(async (tx) => {
    const data = { mailId: newId(), kind: 'message' as const, bytes: 1, questionId: null };
    for (let number = 0; number < limits.newsEvents; number++)
      tx.emit({ type: 'mail.sent', projectId: supervisor.projectId, agentId: supervisor.id, data });
  });
  await fleet.live(2);
  expect(await fleet.count('nudge.sent')).toBe(0);
  await fleet.store.write(async (tx) => {
    const data = { mailId: newId(), kind: 'message' as const, bytes: 1, questionId: null };
    for (let number = 0; number < limits.newsEvents; number++)
      tx.emit({ type: 'mail.sent', projectId: supervisor.projectId, agentId: supervisor.id, data });
    tx.emit({ type: 'task.blocked', projectId: supervisor.projectId, data: { taskId: newId(), reason: 'x' } });
  });
  await fleet.live(1);
  expect(await fleet.count('nudge.sent')).toBe(1);
});

test('an unread nudge is the only one, in both modes [6.2.3]', async () => {
  for (const mode of ['fixed', 'smart'] as const) {
    const fleet = await openFleet({ nudges: mode });
    const supervisor = await fleet.add('supervisor', 'resting');
    await fleet.add('worker', 'working');
    const nudged = await fleet.live(120, { unresponsive: true });
    expect(nudged[supervisor.id]?.minutes, mode).toHaveLength(1);
    expect((await fleet.reasons(supervisor.id)).at(-1)).toBe('unconsumed');
  }
});

test('a clock that jumps two hours, forwards or back, brings one nudge and no storm', async () => {
  const fleet = await openFleet({ nudges: 'fixed' });
  const supervisor = await fleet.add('supervisor', 'resting');
  const times = () => fleet.count('nudge.sent');
  await fleet.live(1);
  fleet.clock.now += 120 * minuteMs;
  await Promise.all([fleet.nudges.tick(), fleet.nudges.tick(), fleet.nudges.tick()]);
  expect(await times()).toBe(2);
  await fleet.playTurns();
  fleet.clock.now -= 240 * minuteMs;
  await fleet.live(4);
  expect(await times()).toBe(4);
  expect(await fleet.reasons(supervisor.id)).toEqual(['unconsumed']);
});

test('a reason is reported when it changes, and not repeated [7.21]', async () => {
  const fleet = await openFleet({ nudges: 'smart' });
  const worker = await fleet.add('worker', 'working');
  const workspace = await fleet.add('workspace', 'working');
  await fleet.live(30, { at: { 20: () => fleet.update(worker.id, { stopRequestedAt: fleet.clock.now }) } });
  expect(await fleet.reasons(worker.id)).toEqual(['mid-turn', 'stopped']);
  expect(await fleet.reasons(workspace.id)).toEqual(['no-nudge']);
});

test('an agent stopped between check and nudge is not nudged, and with `off` none is checked', async () => {
  const fleet = await openFleet({ nudges: 'fixed' });
  const first = await fleet.add('supervisor', 'resting');
  const tick = fleet.nudges.tick();
  await fleet.update(first.id, { stopRequestedAt: fleet.clock.now });
  await tick;
  expect(await fleet.count('nudge.sent')).toBe(0);
  const off = await openFleet({ nudges: 'off' });
  await off.add('supervisor', 'resting');
  await off.live(5);
  expect(await off.count('nudge.sent')).toBe(0);
  expect(await off.count('nudge.skipped')).toBe(0);
});
