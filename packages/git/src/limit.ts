/** The bounds of this package. */
export const gitLimits = {
  /** Git commands that run at once; the others wait. */
  processes: 8,
  /** Output of one git command that is kept; a command that prints more is ended. */
  outputBytes: 16 * 1024 * 1024,
  /** Output of a status that is counted; beyond it the status is marked as truncated. */
  statusBytes: 4 * 1024 * 1024,
  /** Paths that a status names; the rest are only counted. */
  statusFiles: 200,
  /** How much of git's complaint is kept in an error. */
  stderrCharacters: 2_000,
  /** The largest file of git's own bookkeeping that is read by hand (`.git`, `gitdir`, `HEAD`). */
  pointerBytes: 8 * 1024,
  /** The largest `info/exclude` that is rewritten. */
  excludeBytes: 1024 * 1024,
  /** Tries to register one worktree, among them those that follow a repair. */
  registerAttempts: 10,
  /** First wait after another program held one of git's locks; it doubles with each try. */
  lockRetryMs: 20,
  /** The longest single wait between two tries. */
  lockRetryMaxMs: 500,
  /** A lock on a branch of ours that is older than this was left behind; shorter than all tries to register together. */
  oldLockMs: 1_500,
  /** An abandoned `index.lock` is taken over after this long where the holder cannot be looked up. */
  abandonedLockMs: 10_000,
  /** How often it is asked again whether an earlier git has left. */
  leftoverPollMs: 20,
  /** The longest branch name. */
  branchBytes: 200,
  /** The longest revision that a person may type. */
  revisionCharacters: 1_000,
} as const;
