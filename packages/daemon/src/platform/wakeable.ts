/**
 * A counter that each wake increments. A reader notes the version, checks the facts, and waits only if the version is
 * unchanged, so a wake in between is never lost.
 */
export type Wakeable = {
  version(): number;
  wake(): void;
  /** True when woken (or when the version already differs), false after `timeoutMs`. Rejects on abort. */
  wait(version: number, timeoutMs: number, signal: AbortSignal): Promise<boolean>;
};

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
