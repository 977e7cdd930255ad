/**
 * A counter that rises with every wake. A reader notes the version, looks at the facts, and waits only if nothing has
 * happened since: so a wake between the look and the wait is never lost.
 */
export type Wakeable = {
  version(): number;
  wake(): void;
  /** True when woken (or when the version already differs), false when `timeoutMs` has passed. Rejects on abort. */
  wait(version: number, timeoutMs: number, signal: AbortSignal): Promise<boolean>;
};

/** A fresh counter with nobody waiting. */
export function createWakeable(): Wakeable {
  let current = 0;
  const waiting = new Set<() => void>();
  return {
    version: () => current,
    wake() {
      current++;
      const woken = [...waiting];
      waiting.clear();
      for (const wake of woken) wake();
    },
    wait(version, timeoutMs, signal) {
      if (version !== current) return Promise.resolve(true);
      return new Promise((resolve, reject) => {
        const settle = (finish: () => void) => {
          clearTimeout(timer);
          waiting.delete(wake);
          signal.removeEventListener('abort', abort);
          finish();
        };
        const wake = () => settle(() => resolve(true));
        const abort = () => settle(() => reject(signal.reason as Error));
        const timer = setTimeout(() => settle(() => resolve(false)), timeoutMs);
        timer.unref();
        waiting.add(wake);
        if (signal.aborted) abort();
        else signal.addEventListener('abort', abort, { once: true });
      });
    },
  };
}
