/** Who waits for its mail by a command, and so takes it from there. */
export type Waiters = {
  has(agentId: string): boolean;
  /** Somebody begins to wait; returns how to leave off. */
  begin(agentId: string): () => void;
};

/** Counts those who wait; `onLeft` hears of each agent that does not any more. */
export function createWaiters(onLeft: (agentId: string) => void): Waiters {
  const waiting = new Map<string, number>();
  return {
    has: (agentId) => waiting.has(agentId),
    begin(agentId) {
      waiting.set(agentId, (waiting.get(agentId) ?? 0) + 1);
      let left = false;
      return () => {
        if (left) return;
        left = true;
        const others = (waiting.get(agentId) ?? 1) - 1;
        if (others > 0) return void waiting.set(agentId, others);
        waiting.delete(agentId);
        onLeft(agentId);
      };
    },
  };
}
