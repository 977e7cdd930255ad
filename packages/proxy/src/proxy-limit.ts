/** Bounds of the proxy. Units come last in names. */
export const proxyLimits = {
  /** The largest grant or secret file. */
  fileBytes: 2 * 1024 * 1024,
  /** How much of a session's record is read after a restart. */
  recordBytes: 4 * 1024 * 1024,
  /** The longest line of an event stream that is searched for usage, and the largest such answer in one piece. */
  usageBytes: 8 * 1024 * 1024,
  /** How much of an error is searched for the end of a limit. */
  errorBytes: 64 * 1024,
  /** Refused names that are recorded for one session. */
  refusedNames: 100,
  /** Connections at once, to each listener. */
  connections: 4_096,
  /** How long an idle connection of a client stays open; longer than the CLIs keep theirs. */
  idleConnectionMs: 10 * 60_000,
  /** How long one attempt to connect to a host may take, and how many addresses of it are tried. */
  connectMs: 20_000,
  addresses: 4,
  /** How often the proxy checks whether it is still needed, and how long it stays without a session. */
  lookMs: 1_000,
  unusedMs: 60_000,
  /** How long it waits for the lock of a proxy that is just leaving. */
  lockWaitMs: 5_000,
  /** How long open calls may take after a request to stop. */
  leaveMs: 5_000,
} as const;
