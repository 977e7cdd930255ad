/** Bounds of this package. */
export const forgeLimits = {
  /** Timeout of a command. */
  commandMs: 60_000,
  /** Output kept per command; one that prints more is ended. */
  outputBytes: 16 * 1024 * 1024,
  /** How much of a command's stderr an error keeps. */
  complaintCharacters: 1_000,
  /** Changes listed. */
  changes: 100,
  /** Runs of a branch searched for those of its latest commit. */
  runs: 50,
  /** Issues searched for one with the same key. */
  issues: 100,
  /** The longest text of a change, a comment or an issue; GitHub allows 65,536 characters. */
  textCharacters: 60_000,
  titleCharacters: 250,
} as const;
