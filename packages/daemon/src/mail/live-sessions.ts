/** The part of the reconciler that mail delivery needs. */
export type LiveSessions = {
  /** Runs `act` in the agent's lane, between two of its steps. */
  inLane<T>(agentId: string, act: () => Promise<T>): Promise<T>;
  ingest: {
    /** Stores a session's output so far. */
    catchUp(agentId: string): Promise<void>;
    isInTurn(agentId: string): boolean;
    turn(agentId: string): { tools: readonly unknown[] };
  };
};
