import { PawlError } from '@pawl/schema/error';
import { setTimeout as delay } from 'node:timers/promises';
import { mcpLimits } from './mcp-limit.ts';

/**
 * Asks until the daemon answers, for a short while: it may just be restarting. Every verb may be asked again, since each
 * either changes nothing the second time or carries a key that says that it is the same.
 */
export async function whileAway<T>(signal: AbortSignal, ask: () => Promise<T>): Promise<T> {
  let until: number | null = null;
  for (;;) {
    const beganAt = performance.now();
    try {
      return await ask();
    } catch (error) {
      const away = error instanceof PawlError && error.code === 'daemon_unreachable';
      if (!away || signal.aborted) throw error;
      const now = performance.now();
      // One that was there for a while has left just now.
      if (until === null || now - beganAt > mcpLimits.awayMs) until = now + mcpLimits.awayMs;
      if (now > until) throw error;
      await delay(mcpLimits.retryMs, undefined, { signal }).catch(() => undefined);
    }
  }
}
