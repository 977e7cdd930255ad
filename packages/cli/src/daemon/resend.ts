import type { Client } from '@pawl/protocol/client';
import type { Home } from '@pawl/protocol/home';
import { PawlError } from '@pawl/schema/error';
import { withDaemon } from './launch.ts';

/** How often a request is sent at the most. */
const tries = 3;

/**
 * Asks until there is an answer. A request whose answer was lost, because the daemon died, is sent again; it has to carry
 * an idempotency key, the same each time, so that it does its work once.
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
