/** The part of the reconciler that the delivery of mail needs. */
export type LiveSessions = {
  /** Does something about an agent between two of its steps. */
  inLane<T>(agentId: string, act: () => Promise<T>): Promise<T>;
  ingest: {
    /** Stores what a session has printed so far. */
    catchUp(agentId: string): Promise<void>;
    isInTurn(agentId: string): boolean;
    turn(agentId: string): { tools: readonly unknown[] };
  };
};
