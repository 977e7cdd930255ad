import { setTimeout as pause } from 'node:timers/promises';
import { hostLimits } from './host-limit.ts';

/** A monotonic clock in milliseconds: setting the system's time back or forth does not move it. */
export type MonotonicClock = () => number;

export const monotonicClock: MonotonicClock = () => performance.now();

/** Pauses that grow from the shortest to the longest, for looking again at something that has no event. */
export function createPauses(): () => Promise<void> {
  let pauseMs: number = hostLimits.lookAgainMinMs;
  return async () => {
    await pause(pauseMs);
    pauseMs = Math.min(pauseMs * 2, hostLimits.lookAgainMaxMs);
  };
}
