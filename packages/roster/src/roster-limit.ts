/** Bounds of a survey. Units come last in names. */
export const rosterLimits = {
  /** How many ancestors are followed. */
  ancestors: 1_000,
  /** Words of a command line that are read, and how much of each. */
  commandWords: 16,
  wordCharacters: 4_096,
  /** How much of a process's environment or command line is read. */
  processFileBytes: 2 * 1024 * 1024,
  /** Timeout and output limit of `ps`, `lsof` and `pgrep`. */
  commandMs: 30_000,
  commandBytes: 64 * 1024 * 1024,
  /** The kernel cuts process names to this length. */
  nameCharacters: 15,
  /** The largest list of programs written by a daemon. */
  programsBytes: 256 * 1024,
  programs: 200,
  variables: 1_000,
  /** How much of an anchor is read and shown. */
  anchorBytes: 64 * 1024,
  /** Helpers' files that are read. */
  helperFiles: 200,
  /** Attempts to find a free id. */
  idAttempts: 20,
  /** The longest part of a file name from an id or a description. */
  idCharacters: 120,
  descriptionCharacters: 60,
  /** Attempts to find a free archive name. */
  archiveNames: 100,
  /** The largest `info/exclude` that a line is added to. */
  excludeBytes: 1024 * 1024,
} as const;
