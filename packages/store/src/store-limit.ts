/** Bounds of the store. Units come last in the names. */
export const storeLimits = {
  /** Calls of `write` that may wait for their turn. */
  waitingWrites: 4_096,
  /** Events in one transaction. */
  eventsPerWrite: 1_000,
  /** Prepared statements that one connection keeps. */
  statements: 256,
  /** How long a connection waits for a lock that another one holds. */
  busyMs: 5_000,
  /** How long the second of two daemons that start at the same instant waits for the other to stand back. */
  lockWaitMs: 250,
  /** The write-ahead log is cut back to this size after a checkpoint. */
  walBytes: 64 * 1024 * 1024,
  /** A database up to this size is checked whole at start; beyond it, every table but `chunks` is. */
  wholeCheckBytes: 64 * 1024 * 1024,
  /** Matches that a reference to an agent may have before the rest is left out. */
  matches: 10,
  /** The shortest prefix of an id that names an agent. */
  idPrefixCharacters: 4,
  /** Worktrees in use and kept that a listing names. */
  worktrees: 10_000,
  /** How much of a task a listing carries; the whole of it is in the view of one agent. */
  listedTaskCharacters: 2_048,
  /** Stretches of a history that one query reads. */
  rangesPerQuery: 64,
  /** Stretches that are fetched for a page of a history before it is known that it needs more. */
  rangesPerPage: 64,
  /** How far `seq` jumps after a restore, so that no number is given to a second event. */
  restoredSeqGap: 1_000_000,
  /** The largest daemon.json that is read. */
  daemonFileBytes: 64 * 1024,
} as const;
