import type { Client } from '@pawl/protocol/client';
import type { Home } from '@pawl/protocol/node/home';
import { PawlError } from '@pawl/schema/error';
import { withDaemon } from './launch.ts';

/** The maximum number of attempts. */
const tries = 3;

/**
 * Retries until there is an answer. Repeats a request whose answer was lost because the daemon died; the request must
 * carry a constant idempotency key.
 */
export async function untilAnswered<T>(home: Home, ask: (client: Client) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await withDaemon(home, ask);
    } catch (error) {
      const lost = error instanceof PawlError && error.code === 'daemon_unreachable';
      if (!lost || attempt === tries) throw error;
    }
  }
}
