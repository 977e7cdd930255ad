/** The bounds of what is read about a project's gate: configuration, closing words of test runners, diffs. Units come last in the names. */
export const gateLimits = {
  /** The largest `.pawl/config.yaml`. */
  configBytes: 64 * 1024,
  /** Commands, variables and patterns that it may name. */
  checks: 50,
  commandCharacters: 8_000,
  variables: 200,
  patterns: 100,
  patternCharacters: 300,
  /** Configurations of commits that are remembered. */
  knownConfigs: 50,
  /** How long it is believed what remotes a repository has whose config has not changed. */
  originMs: 10_000,
  /** A longer line is nobody's closing words. */
  closingCharacters: 1_000,
  /** More digits than the number of anybody's tests has. */
  countDigits: 7,
  /** Programs whose lines are told apart by what stands before them. */
  prefixes: 200,
  /** How deep suites in a JUnit file may be nested. */
  suiteDepth: 100,
  /** The largest file whose sections are compared before and after. */
  comparedBytes: 1024 * 1024,
  /** Words of commands that stand for many scripts, such as `test:*`. */
  families: 20,
  /** How far the files are followed that a check runs: files, steps from the command, bytes of one and of all of them. */
  reachedFiles: 400,
  reachedSteps: 12,
  reachedFileBytes: 256 * 1024,
  reachedBytes: 4 * 1024 * 1024,
  /** What one file may name, and how much of a line is looked at for it. */
  references: 400,
  referenceLineCharacters: 2_000,
  /** Tests of one file that are looked into, and the bytes of one and of all test files of a change on each side. */
  testsInFile: 5_000,
  testFileBytes: 512 * 1024,
  testBytes: 8 * 1024 * 1024,
  /** How much of a line of a diff is looked at for tests; what stands behind it was not written by hand. */
  lineCharacters: 500,
  /** What a change is told to do to the gate: how many lines, and how long. */
  findings: 20,
  findingCharacters: 300,
  shownCharacters: 120,
  /** How long the list of commits is that were removed from the target branch. */
  droppedCharacters: 1_500,
  /** The largest file that tells what a project's checks are, and how many names of a directory are looked at. */
  detectedBytes: 1024 * 1024,
  directoryNames: 5_000,
} as const;
