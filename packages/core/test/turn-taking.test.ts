import { createGate, createLanes, createSerial } from '@pawl/core/turn-taking';
import { expect, test } from 'vitest';

test('jobs in a row run one at a time, in order, and go on after a failure', async () => {
  const serially = createSerial();
  const seen: string[] = [];
  let inside = 0;
  const job = (name: string) => async () => {
    expect((inside += 1)).toBe(1);
    await Promise.resolve();
    seen.push(name);
    inside -= 1;
    if (name === 'b') throw new Error('b failed');
  };
  const results = await Promise.allSettled(['a', 'b', 'c'].map((name) => serially(job(name))));
  expect(seen).toEqual(['a', 'b', 'c']);
  expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});

test('a gate lets so many in and no more', async () => {
  const enter = createGate(2);
  let inside = 0;
  let most = 0;
  const job = async () => {
    most = Math.max(most, (inside += 1));
    for (let turn = 0; turn < 5; turn++) await Promise.resolve();
    inside -= 1;
  };
  const failing = enter(() => Promise.reject(new Error('x')));
  await Promise.allSettled([...Array.from({ length: 9 }, () => enter(job)), failing]);
  await enter(job);
  expect(most).toBe(2);
});

test('lanes: other keys do not wait, too many jobs are refused, and drain waits for all', async () => {
  const lanes = createLanes(2);
  const { promise: held, resolve: open } = Promise.withResolvers<void>();
  const first = lanes.run('k', async () => held);
  const second = lanes.run('k', async () => 'second');
  await expect(lanes.run('k', async () => 'third')).rejects.toMatchObject({ code: 'unavailable' });
  expect(await lanes.run('other', async () => 'other')).toBe('other');
  let drained = false;
  const draining = lanes.drain().then(() => (drained = true));
  await Promise.resolve();
  expect(drained).toBe(false);
  open();
  await first;
  expect(await second).toBe('second');
  await draining;
  expect(await lanes.run('k', async () => 'again')).toBe('again');
});
