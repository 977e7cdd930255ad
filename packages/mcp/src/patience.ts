import { PawlError } from '@pawl/schema/error';
import { setTimeout as delay } from 'node:timers/promises';
import { mcpLimits } from './mcp-limit.ts';

/**
 * Retries until the daemon answers, for a short while: it may be restarting. Safe for every verb, since each is
 * idempotent or carries a key.
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
      // It was there for a while and has just gone: restart the timer.
      if (until === null || now - beganAt > mcpLimits.awayMs) until = now + mcpLimits.awayMs;
      if (now > until) throw error;
      await delay(mcpLimits.retryMs, undefined, { signal }).catch(() => undefined);
    }
  }
}
