/** Bounds of this package. */
export const gitLimits = {
  /** Concurrent git commands; the others wait. */
  processes: 8,
  /** Concurrent git commands that use a remote. */
  networkProcesses: 4,
  /** Output kept per git command; a command that prints more is ended. */
  outputBytes: 16 * 1024 * 1024,
  /** Status output that is counted; beyond it the status is marked as truncated. */
  statusBytes: 4 * 1024 * 1024,
  /** Paths listed in a status; the rest are only counted. */
  statusFiles: 200,
  /** How much of git's stderr an error keeps. */
  stderrCharacters: 2_000,
  /** The largest of git's own small files that is read directly (`.git`, `gitdir`, `HEAD`). */
  pointerBytes: 8 * 1024,
  /** The largest `info/exclude` that is rewritten. */
  excludeBytes: 1024 * 1024,
  /** Attempts to register one worktree, including those after a repair. */
  registerAttempts: 10,
  /** First delay after another program held one of git's locks; doubles with each retry. */
  lockRetryMs: 20,
  /** The longest delay between two retries. */
  lockRetryMaxMs: 500,
  /** A lock on one of our branches older than this is stale; shorter than all registration retries together. */
  oldLockMs: 1_500,
  /** How often files are rewritten because a leftover git interfered. */
  checkoutAttempts: 5,
  /** A stale `index.lock` is taken over after this long if the holder cannot be looked up. */
  abandonedLockMs: 10_000,
  /** How often to poll whether a leftover git has exited. */
  leftoverPollMs: 20,
  /** The longest branch name. */
  branchBytes: 240,
  /** The longest revision accepted as input. */
  revisionCharacters: 1_000,
  /** The largest index that is copied; about two million files. */
  indexBytes: 256 * 1024 * 1024,
  /** Bytes of the list of untracked file names. */
  snapshotListBytes: 64 * 1024 * 1024,
  /** Untracked files carried into another worktree. */
  snapshotFiles: 200_000,
  /** Bytes of changed and untracked files carried into another worktree. */
  snapshotBytes: 2 * 1024 * 1024 * 1024,
  /** Attempts to snapshot files that keep changing. */
  snapshotAttempts: 5,
  /** The largest `.worktreeinclude` that is read. */
  includeBytes: 256 * 1024,
  /** File system calls made before yielding. */
  filesPerTurn: 500,
  /** Uncommitted files in a diff, and their total size. */
  diffFiles: 20_000,
  diffBytes: 256 * 1024 * 1024,
  /** Size of a diff; beyond it the diff is marked as truncated. */
  patchBytes: 2 * 1024 * 1024,
  /** Bytes of the list of files that differ between two commits; beyond it they are not listed at all. */
  changedBytes: 32 * 1024 * 1024,
  /** The longest file path looked up in a commit. */
  pathBytes: 4_096,
  /** Bytes of the list of objects copied between repositories; about three million ids. */
  objectListBytes: 128 * 1024 * 1024,
  /** Up to this many objects are stored loose; more as a pack. */
  looseObjects: 100,
  /** Bounds for reading without git: size of a tree, and numbers of trees, commits in a row, refs and blobs. */
  looseTreeBytes: 1024 * 1024,
  looseTrees: 200,
  straightCommits: 20,
  looseRefs: 5_000,
  packedRefsBytes: 1024 * 1024,
  looseBlobs: 200,
  /** Pawl's own git directory is repacked from this many loose objects or packs on. */
  tidyObjects: 2_000,
  tidyPacks: 30,
  /** Commits of one change that are replayed one by one; a larger change becomes a single commit. */
  replayedCommits: 200,
  /** The largest commit object that is read, without its files. */
  commitBytes: 1024 * 1024,
  /** The largest loose object of a sandboxed agent that is accepted, compressed and not. */
  foreignObjectBytes: 1024 * 1024 * 1024,
  foreignContentBytes: 4 * 1024 * 1024 * 1024,
  /** The longest remote URL. */
  urlCharacters: 4_096,
  /** Files listed in a refusal. */
  namedFiles: 50,
  /** Scratch directories of a killed daemon are removed after this long. */
  scratchMs: 24 * 60 * 60 * 1000,
  /** The largest `note.json` that is read. */
  noteBytes: 64 * 1024,
  /** Trash entries listed. */
  trashEntries: 10_000,
  /** Files whose sizes are added up per trash entry; beyond it the size is unknown. */
  trashSizeFiles: 200_000,
} as const;
