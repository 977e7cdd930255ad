/** Bounds of the store. Units come last in names. */
export const storeLimits = {
  /** Calls of `write` that may be queued. */
  waitingWrites: 4_096,
  /** Events in one transaction. */
  eventsPerWrite: 1_000,
  /** Cached prepared statements per connection. */
  statements: 256,
  /** How long a connection waits for another's lock. */
  busyMs: 5_000,
  /** How long the second of two daemons starting at once waits for the first to give way. */
  lockWaitMs: 250,
  /** The write-ahead log is truncated to this size after a checkpoint. */
  walBytes: 64 * 1024 * 1024,
  /** Up to this size a database is checked whole at start; beyond it, all tables except `chunks`. */
  wholeCheckBytes: 64 * 1024 * 1024,
  /** The most matches returned for a reference. */
  matches: 10,
  /** The shortest id prefix that names an agent. */
  idPrefixCharacters: 4,
  /** Worktrees in a listing, in use and kept. */
  worktrees: 10_000,
  /** How much of a task a listing carries; the view of one agent has all of it. */
  listedTaskCharacters: 2_048,
  /** Ranges of a history that one query reads. */
  rangesPerQuery: 64,
  /** Ranges fetched for a history page before it is known to need more. */
  rangesPerPage: 64,
  /** Message bodies that one query reads. */
  bodiesPerQuery: 200,
  /** How far `seq` jumps after a restore, so that no number is reused. */
  restoredSeqGap: 1_000_000,
  daemonFileBytes: 64 * 1024,
} as const;
