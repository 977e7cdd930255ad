/** The bounds of this package. */
export const gitLimits = {
  /** Git commands that run at once; the others wait. */
  processes: 8,
  /** Git commands that wait for a remote at once. */
  networkProcesses: 4,
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
  /** How often files are written anew because a git of an earlier life turned up meanwhile. */
  checkoutAttempts: 5,
  /** An abandoned `index.lock` is taken over after this long where the holder cannot be looked up. */
  abandonedLockMs: 10_000,
  /** How often it is asked again whether an earlier git has left. */
  leftoverPollMs: 20,
  /** The longest branch name. */
  branchBytes: 240,
  /** The longest revision that a person may type. */
  revisionCharacters: 1_000,
  /** The largest index that is copied; about two million files. */
  indexBytes: 256 * 1024 * 1024,
  /** Names of files that are not tracked, as one list. */
  snapshotListBytes: 64 * 1024 * 1024,
  /** Files that are not tracked and are carried into another worktree. */
  snapshotFiles: 200_000,
  /** Contents of all changed and untracked files that are carried into another worktree. */
  snapshotBytes: 2 * 1024 * 1024 * 1024,
  /** Tries to take a snapshot of files that change meanwhile. */
  snapshotAttempts: 5,
  /** The largest `.worktreeinclude` that is read. */
  includeBytes: 256 * 1024,
  /** File system calls that are made in one go before others get their turn. */
  filesPerTurn: 500,
  /** Uncommitted files that a diff looks at, and their size all together. */
  diffFiles: 20_000,
  diffBytes: 256 * 1024 * 1024,
  /** How much of a diff is given; beyond it the diff is marked as truncated. */
  patchBytes: 2 * 1024 * 1024,
  /** Names of the files that two commits differ in, as one list; beyond it they are not listed at all. */
  changedBytes: 32 * 1024 * 1024,
  /** The longest path of a file in a commit that is looked for. */
  pathBytes: 4_096,
  /** Ids of objects that are carried from one repository into another, as one list; about three million of them. */
  objectListBytes: 128 * 1024 * 1024,
  /** Up to so many objects are stored one by one; more of them as a pack. */
  looseObjects: 100,
  /** How large a tree, how many trees, commits in a row, refs and blobs are read without git. */
  looseTreeBytes: 1024 * 1024,
  looseTrees: 200,
  straightCommits: 20,
  looseRefs: 5_000,
  packedRefsBytes: 1024 * 1024,
  looseBlobs: 200,
  /** From so many single objects or packs on, Pawl's own git directory is tidied. */
  tidyObjects: 2_000,
  tidyPacks: 30,
  /** Commits of one change that are replayed one by one; a change with more becomes a single commit. */
  replayedCommits: 200,
  /** The largest commit, without its files, that is read. */
  commitBytes: 1024 * 1024,
  /** The longest address of a remote. */
  urlCharacters: 4_096,
  /** Files that a refusal names. */
  namedFiles: 50,
  /** Scratch directories of a killed daemon are removed after this long. */
  scratchMs: 24 * 60 * 60 * 1000,
  /** The largest `note.json` that is read. */
  noteBytes: 64 * 1024,
  /** Entries of the trash that are listed. */
  trashEntries: 10_000,
  /** Files of one entry of the trash whose sizes are added up; beyond it the size is unknown. */
  trashSizeFiles: 200_000,
} as const;
