/** Agents that wait for mail in a command, and receive it there. */
export type Waiters = {
  has(agentId: string): boolean;
  /** Starts a wait; returns a function that ends it. */
  begin(agentId: string): () => void;
};

/** Counts waits; calls `onLeft` when an agent's last wait ends. */
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
