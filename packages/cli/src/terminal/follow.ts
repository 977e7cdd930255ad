import { PawlError } from '@pawl/schema/error';

/** How often in a row a lost stream is reopened: the daemon may be restarting. */
export const reconnects = 50;
const reconnectMs = 200;

/**
 * Reads a stream until `take` says that it has ended, across restarts of the daemon. `open` is called again after a
 * loss and must continue after the last message taken, so that nothing is missed or repeated. Waits for a stopped
 * daemon without starting it: watching changes nothing.
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
