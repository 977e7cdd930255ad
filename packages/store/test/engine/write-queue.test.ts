import { storeLimits } from '@pawl/store/store-limit';
import { WriteQueue } from '@pawl/store/engine/write-queue';
import { expect, test } from 'vitest';
import { range } from '../fixture.ts';

test('refuses when the queue is full, and accepts again when there is room', async () => {
  const queue = new WriteQueue();
  const gate = Promise.withResolvers<void>();
  const order: number[] = [];
  const held = queue.run(
    () => gate.promise,
    () => {},
  );
  const waiting = range(2, storeLimits.waitingWrites).map((number) =>
    queue.run(
      async () => number,
      (result) => order.push(result),
    ),
  );
  await expect(
    queue.run(
      async () => {},
      () => {},
    ),
  ).rejects.toMatchObject({ code: 'unavailable' });
  gate.resolve();
  await Promise.all([held, ...waiting]);
  expect(order).toEqual(range(2, storeLimits.waitingWrites));
  expect(
    await queue.run(
      async () => 'room',
      () => {},
    ),
  ).toBe('room');
});
