import { PawlError } from '@pawl/schema/error';

/** A lost stream is taken up again this often in a row: the daemon may be restarting. */
export const reconnects = 50;
const reconnectMs = 200;

/**
 * Reads a stream until `take` says that it has ended, over restarts of the daemon. `open` is called again after a loss
 * and must go on after the last message that was taken; so nothing is missed and nothing is taken twice. A daemon that
 * was stopped is waited for, not started: whoever only looks on changes nothing.
 */
export async function follow<T>(
  open: () => Promise<AsyncIterable<T>>,
  take: (message: T) => 'more' | 'ended',
  pause: () => Promise<void> = () => new Promise((resolve) => setTimeout(resolve, reconnectMs)),
): Promise<void> {
  for (let losses = 0; ;) {
    let loss: unknown = new PawlError('daemon_unreachable', 'The stream ends as soon as it is opened.', {
      hint: 'Run `pawl doctor` to look for the cause.',
    });
    try {
      for await (const message of await open()) {
        losses = 0;
        if (take(message) === 'ended') return;
      }
    } catch (error) {
      if (!(error instanceof PawlError && error.code === 'daemon_unreachable')) throw error;
      loss = error;
    }
    if (++losses > reconnects) throw loss;
    await pause();
  }
}
