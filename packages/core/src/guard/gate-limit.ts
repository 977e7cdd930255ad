/** Bounds for reading a project's gate: configuration, test summaries, diffs. Units come last in names. */
export const gateLimits = {
  /** The largest `.pawl/config.yaml`. */
  configBytes: 64 * 1024,
  /** Commands, variables and patterns that it may name. */
  checks: 50,
  commandCharacters: 8_000,
  variables: 200,
  patterns: 100,
  patternCharacters: 300,
  /** Cached configurations, by commit. */
  knownConfigs: 50,
  /** How long a repository's remotes are cached while its config is unchanged. */
  originMs: 10_000,
  /** A longer line is not a summary. */
  closingCharacters: 1_000,
  /** A number with more digits is not a test count. */
  countDigits: 7,
  /** Programs told apart by their line prefix. */
  prefixes: 200,
  suiteDepth: 100,
  /** The largest file whose sections are compared. */
  comparedBytes: 1024 * 1024,
  /** Wildcard script words, such as `test:*`. */
  families: 20,
  /** How far to follow the files that a check runs: number, distance from the command, bytes of one and of all. */
  reachedFiles: 400,
  reachedSteps: 12,
  reachedFileBytes: 256 * 1024,
  reachedBytes: 4 * 1024 * 1024,
  /** References in one file, and how much of each line is searched for them. */
  references: 400,
  referenceLineCharacters: 2_000,
  /** Tests examined per file, and bytes of one and of all test files of a change, on each side. */
  testsInFile: 5_000,
  testFileBytes: 512 * 1024,
  testBytes: 8 * 1024 * 1024,
  /** How much of a diff line is searched for tests; longer lines are generated. */
  lineCharacters: 500,
  /** Findings about a change: how many, and how long. */
  findings: 20,
  findingCharacters: 300,
  shownCharacters: 120,
  /** Length of the list of commits removed from the target branch. */
  droppedCharacters: 1_500,
  /** The largest file read to detect a project's checks, and the number of directory entries examined. */
  detectedBytes: 1024 * 1024,
  directoryNames: 5_000,
} as const;
