/** The longest timer: the clock may be set meanwhile, or the machine may sleep. */
const longestAlarmMs = 60_000;

export type Alarms = ReturnType<typeof createAlarms>;

/** Wakes agents at a time, and possibly before; a new alarm of an agent replaces the last. */
export function createAlarms(wake: (agentId: string) => void) {
  const timers = new Map<string, NodeJS.Timeout>();
  return {
    set(agentId: string, afterMs: number): void {
      clearTimeout(timers.get(agentId));
      const timer = setTimeout(
        () => {
          timers.delete(agentId);
          wake(agentId);
        },
        Math.min(afterMs + 1, longestAlarmMs),
      );
      timers.set(agentId, timer.unref());
    },
    close(): void {
      for (const timer of timers.values()) clearTimeout(timer);
    },
  };
}
