/** The bounds of the process host that nobody else needs. Units come last in the names. */
export const hostLimits = {
  /** Polls of watched files, after the last change of any, that are all done. */
  busyTicks: 8,
  /** Afterwards only every so many-th is. */
  quietPollTicks: 4,
  /** How much of a pid, child or exit file is read; anything longer is not ours. */
  identityFileBytes: 4_096,
  /** What `sendInput` takes at once. */
  inputBytes: 4 * 1024 * 1024,
  /** How long `sendInput` waits for a process that does not read. */
  inputMs: 5_000,
  /** Starts or inputs that may wait for one session. */
  waiters: 1_000,
  /** How long a shim may take to record the exit code once its command is gone. */
  shimLeaveMs: 5_000,
  /** How long processes may take to disappear after KILL, before that is an error. */
  killMs: 30_000,
  /** The shortest and the longest pause between two looks at something that has no event. */
  lookAgainMinMs: 1,
  lookAgainMaxMs: 25,
  /** How long a look at all processes may be put off so that more of those who wait for one share it. */
  listingRestMs: 25,
  /** How often one look reads what has begun since its last reading. */
  listingPasses: 50,
  /** How often one look waits for processes that are just becoming other programs. */
  listingPauses: 6,
  /** Control groups that the processes of one session may have made below its own. */
  groups: 1_000,
  /** An empty group that is older belongs to no session that is just starting. */
  emptyGroupMs: 10 * 60 * 1_000,
  /** How long it may take until all processes of a session are halted, before that is an error. */
  haltMs: 20_000,
  /** How often a process that has no command line at the moment is looked at again. */
  lookAgainTimes: 200,
  /** How much text of an oversized line is kept. */
  oversizedTextBytes: 64 * 1024,
  /** Reads up to this size are done at once: for fresh output that is quicker than a trip through the thread pool. */
  directReadBytes: 64 * 1024,
  /** Shorter secrets are not masked: they would be found in any text. */
  secretBytes: 8,
  /** How many secrets are masked. */
  secrets: 1_024,
  /** How much of what does not show may stand within a secret that a read cuts. */
  hiddenBytes: 4_096,
} as const;
