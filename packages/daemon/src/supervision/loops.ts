import type { Platform } from '../platform/platform.ts';
import type { Health } from './health.ts';
import type { Nudges } from './nudges.ts';

/** The daemon's periodic work. */
export type Loops = {
  health(): Promise<void>;
  nudges(): Promise<void>;
  /** Starts nothing more; resolves when running work is done. */
  close(): Promise<void>;
};

/** Starts the loops: health at once and then periodically, nudges after the first interval. */
export function startLoops({ timing }: Platform, { health, nudges }: { health: Health; nudges: Nudges }): Loops {
  const running = new Set<Promise<void>>();
  let closed = false;

  function begin(work: () => Promise<void>): Promise<void> {
    if (closed) return Promise.resolve();
    const begun = work().finally(() => running.delete(begun));
    running.add(begun);
    return begun;
  }

  /** Skips a tick while the previous one still runs. */
  function every(pauseMs: number, work: () => Promise<void>): NodeJS.Timeout {
    let busy = false;
    const timer = setInterval(() => {
      if (busy) return;
      busy = true;
      void begin(work).finally(() => (busy = false));
    }, pauseMs);
    return timer.unref();
  }

  const loops = { health: () => begin(() => health.tick()), nudges: () => begin(() => nudges.tick()) };
  const timers = [every(timing.healthMs, () => health.tick()), every(timing.nudgeMs, () => nudges.tick())];
  void loops.health();
  return {
    ...loops,
    async close() {
      closed = true;
      for (const timer of timers) clearInterval(timer);
      await Promise.all(running);
    },
  };
}
