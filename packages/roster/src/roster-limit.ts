/** The bounds of a look at who else is here. Units come last in the names. */
export const rosterLimits = {
  /** How far up the chain of parents is followed. */
  ancestors: 1_000,
  /** How many words of a command line are looked at, and how much of each. */
  commandWords: 16,
  wordCharacters: 4_096,
  /** How much of the environment or the command line of a process is read. */
  processFileBytes: 2 * 1024 * 1024,
  /** How long `ps`, `lsof` and `pgrep` may take, and how much they may print. */
  commandMs: 30_000,
  commandBytes: 64 * 1024 * 1024,
  /** The kernel's name of a process has no more characters. */
  nameCharacters: 15,
  /** The largest list of programs that a daemon left for us. */
  programsBytes: 256 * 1024,
  programs: 200,
  variables: 1_000,
  /** How much of an anchor is read and shown. */
  anchorBytes: 64 * 1024,
  /** Helpers' files that are looked at. */
  helperFiles: 200,
  /** How often another id is tried when the one that was made is taken. */
  idAttempts: 20,
  /** The longest part of a file's name that comes from an id, or from a description. */
  idCharacters: 120,
  descriptionCharacters: 60,
  /** How often another name is tried for an archive. */
  archiveNames: 100,
  /** The largest `info/exclude` that a line is added to. */
  excludeBytes: 1024 * 1024,
} as const;
