import { expect, test } from 'vitest';
import { createKeyedLock } from '../src/lock.ts';

test('tasks of one key run one after the other in their order, also after a failure', async () => {
  const lock = createKeyedLock(10);
  const log: string[] = [];
  const task = (name: string) => async () => {
    log.push(`${name} begins`);
    await Promise.resolve();
    log.push(`${name} ends`);
    if (name === 'b') throw new Error('b failed');
  };
  const results = await Promise.allSettled([lock('k', task('a')), lock('k', task('b')), lock('k', task('c'))]);
  expect(log).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});

test('other keys do not wait, and too many waiters are refused', async () => {
  const lock = createKeyedLock(2);
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const first = lock('k', async () => gate);
  const second = lock('k', async () => 'second');
  await expect(lock('k', async () => 'third')).rejects.toMatchObject({ code: 'unavailable' });
  expect(await lock('other', async () => 'other')).toBe('other');
  open();
  await first;
  expect(await second).toBe('second');
  expect(await lock('k', async () => 'again')).toBe('again');
});
