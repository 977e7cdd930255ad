import { PawlError } from '@pawl/schema/error';

/** Runs tasks with the same key one after the other, in the order of their calls, with at most `maxWaiters` per key. */
export function createKeyedLock(maxWaiters: number): <T>(key: string, task: () => Promise<T>) => Promise<T> {
  const queues = new Map<string, { last: Promise<unknown>; waiters: number }>();
  return async (key, task) => {
    const queue = queues.get(key) ?? { last: Promise.resolve(), waiters: 0 };
    if (queue.waiters >= maxWaiters) {
      throw new PawlError('unavailable', `more than ${maxWaiters} operations wait for ${key}`, {
        hint: 'Wait until some of them are done, and try again.',
      });
    }
    queues.set(key, queue);
    queue.waiters += 1;
    const result = queue.last.then(task);
    queue.last = result.catch(() => undefined);
    try {
      return await result;
    } finally {
      queue.waiters -= 1;
      if (queue.waiters === 0) queues.delete(key);
    }
  };
}
