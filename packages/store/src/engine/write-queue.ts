import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { PawlError } from '@pawl/schema/error';
import { storeLimits } from '../store-limit.ts';

/** Runs writes one at a time in order of arrival, and refuses when too many wait. */
export class WriteQueue {
  /** Marks code inside a write, so that a nested write fails instead of deadlocking. */
  readonly #inside = new AsyncLocalStorage<{ open: boolean }>();
  #tail: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #closed = false;

  /** Runs `work` in its turn, then `settled` before the next one, outside of the write. */
  async run<Result>(work: () => Promise<Result>, settled: (result: Result) => void): Promise<Result> {
    assert(
      this.#inside.getStore()?.open !== true,
      'a write was started inside a write: use the transaction that is open',
    );
    if (this.#closed) throw closedError();
    if (this.#waiting >= storeLimits.waitingWrites) throw overloadedError();
    this.#waiting += 1;
    const turn = this.#tail.then(async () => {
      const scope = { open: true };
      try {
        return await this.#inside.run(scope, work);
      } finally {
        scope.open = false;
        this.#waiting -= 1;
      }
    });
    const told = turn.then((result) => {
      settled(result);
      return result;
    });
    this.#tail = told.catch(() => {});
    return told;
  }

  /** Takes no more writes, and returns when the waiting ones are done. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#tail;
  }
}

function overloadedError(): PawlError {
  return new PawlError('unavailable', `${storeLimits.waitingWrites} writes are already waiting for the database.`, {
    hint: 'Try again in a moment; if this persists, check the disk.',
  });
}

function closedError(): PawlError {
  return new PawlError('unavailable', 'The store is closed.', { hint: 'Start the daemon with `pawl up`.' });
}
