/** Bounds used only by the process host. Units come last in names. */
export const hostLimits = {
  /** Number of full-rate polls after the last change of any watched file. */
  busyTicks: 8,
  /** After that, only every nth poll happens. */
  quietPollTicks: 4,
  /** How much of a pid, child or exit file is read; anything longer is not ours. */
  identityFileBytes: 4_096,
  /** The largest single input. */
  inputBytes: 4 * 1024 * 1024,
  /** How long `sendInput` waits for a process that does not read. */
  inputMs: 5_000,
  /** Starts or inputs that may be queued for one session. */
  waiters: 1_000,
  /** How long a shim may take to record the exit code after its command is gone. */
  shimLeaveMs: 5_000,
  /** How long processes may take to disappear after SIGKILL before that is an error. */
  killMs: 30_000,
  /** The shortest and the longest delay when polling for something without an event. */
  lookAgainMinMs: 1,
  lookAgainMaxMs: 25,
  /** How long a process listing may be delayed so that more callers share it. */
  listingRestMs: 25,
  /** Passes of one listing over processes that started meanwhile. */
  listingPasses: 50,
  /** Delays of one listing for processes in the middle of an exec. */
  listingPauses: 6,
  /** Control groups that a session's processes may create below its own. */
  groups: 1_000,
  /** An older empty group does not belong to a starting session. */
  emptyGroupMs: 10 * 60 * 1_000,
  /** How long it may take to halt all processes of a session before that is an error. */
  haltMs: 20_000,
  /** Retries for a process that has no command line at the moment. */
  lookAgainTimes: 200,
  /** How much text of an oversized line is kept. */
  oversizedTextBytes: 64 * 1024,
  /** Smaller reads are synchronous: for fresh output that is faster than the thread pool. */
  directReadBytes: 64 * 1024,
  /** Shorter secrets are not masked: they would match any text. */
  secretBytes: 8,
  /** How many secrets are masked. */
  secrets: 1_024,
  /** How many hidden bytes may be inside a secret that a read splits. */
  hiddenBytes: 4_096,
} as const;
