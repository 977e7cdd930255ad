import { messageOf } from '@pawl/schema/error';
import { setTimeout as pause } from 'node:timers/promises';

/** How long a test waits for a fact before it fails: far longer than a busy machine needs. Tests themselves may take longer (vitest.config.ts). */
export const patienceMs = 60_000;

/** Each pause is a fifth of the time that was waited so far, within these bounds: a long wait costs few looks, and ends hardly later. */
const firstPauseMs = 10;
const longestPauseMs = 100;
const pauseShare = 1 / 5;
/** The pause if the caller says when to look again: only a fallback. */
const signalledPauseMs = 1_000;

/**
 * Polls until the condition holds and returns its value. A condition that throws does not hold yet. With `changed`, which
 * resolves when something has happened that may make it hold, it looks again then, and hardly otherwise.
 */
export async function waitUntil<T>(
  condition: () => T | Promise<T>,
  { timeoutMs = patienceMs, what, changed }: { timeoutMs?: number; what: string; changed?: () => Promise<void> },
): Promise<NonNullable<T>> {
  const begin = performance.now();
  for (;;) {
    let reason: string;
    // Before the look, so that a change during it counts.
    const next = changed?.();
    try {
      const value = await condition();
      if (value !== false && value !== null && value !== undefined) return value;
      reason = `the condition was ${String(value)}`;
    } catch (error) {
      reason = messageOf(error);
    }
    const waitedMs = performance.now() - begin;
    if (waitedMs >= timeoutMs) throw new Error(`Waited ${timeoutMs} ms for ${what}: ${reason}`);
    if (next !== undefined) await Promise.race([next, pause(signalledPauseMs)]);
    else await pause(Math.min(Math.max(waitedMs * pauseShare, firstPauseMs), longestPauseMs));
  }
}
