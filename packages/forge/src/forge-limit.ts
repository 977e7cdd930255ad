/** The bounds of this package. */
export const forgeLimits = {
  /** A command that takes longer is ended. */
  commandMs: 60_000,
  /** Output of one command that is kept; one that prints more is ended. */
  outputBytes: 16 * 1024 * 1024,
  /** How much of a command's complaint is kept in an error. */
  complaintCharacters: 1_000,
  /** Changes that are listed. */
  changes: 100,
  /** Runs of a branch that are looked at, to find those of its latest commit. */
  runs: 50,
  /** Issues among which one with the same key is looked for. */
  issues: 100,
  /** The longest text of a change, a comment or an issue; GitHub takes 65,536 characters. */
  textCharacters: 60_000,
  titleCharacters: 250,
} as const;
