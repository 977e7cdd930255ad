import { messageOf } from '@pawl/schema/error';

const pollMs = 10;

/** Polls until the condition holds and returns its value. A condition that throws does not hold yet. */
export async function waitUntil<T>(
  condition: () => T | Promise<T>,
  { timeoutMs = 10_000, what }: { timeoutMs?: number; what: string },
): Promise<NonNullable<T>> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    let reason: string;
    try {
      const value = await condition();
      if (value !== false && value !== null && value !== undefined) return value;
      reason = `the condition was ${String(value)}`;
    } catch (error) {
      reason = messageOf(error);
    }
    if (performance.now() >= deadline) throw new Error(`Waited ${timeoutMs} ms for ${what}: ${reason}`);
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}
