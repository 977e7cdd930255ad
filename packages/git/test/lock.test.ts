import { expect, test } from 'vitest';
import { gate, withLock } from '../src/lock.ts';

test('runs one at a time per key, in order, and goes on after a failure', async () => {
  const seen: string[] = [];
  let inside = 0;
  const work = (name: string) => async () => {
    expect((inside += 1)).toBe(1);
    await Promise.resolve();
    seen.push(name);
    inside -= 1;
    if (name === 'b') throw new Error('b failed');
    return name;
  };
  const results = await Promise.allSettled(['a', 'b', 'c'].map((name) => withLock('key', work(name))));
  expect(seen).toEqual(['a', 'b', 'c']);
  expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});

test('different keys do not wait for each other', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const first = withLock('one', () => promise);
  expect(await withLock('two', () => Promise.resolve('through'))).toBe('through');
  resolve();
  await first;
});

test('a gate lets so many in and no more', async () => {
  const enter = gate(2);
  let inside = 0;
  let most = 0;
  const work = async () => {
    most = Math.max(most, (inside += 1));
    await new Promise((resolve) => setImmediate(resolve));
    inside -= 1;
  };
  await Promise.allSettled([
    ...Array.from({ length: 9 }, () => enter(work)),
    enter(() => Promise.reject(new Error('x'))),
  ]);
  await enter(work);
  expect(most).toBe(2);
});
