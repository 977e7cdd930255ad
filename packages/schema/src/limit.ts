/** All bounds of the system. Units come last in names. */
export const limits = {
  /** The largest task text that `work` takes. */
  taskBytes: 1024 * 1024,
  /** The longest PATH of a shell sent with a request. */
  searchPathCharacters: 8_192,
  /** The largest HTTP request body. */
  bodyBytes: 4 * 1024 * 1024,
  /** A longer line is stored whole but not parsed; it is marked as oversized. */
  lineBytes: 1024 * 1024,
  /** The largest single chunk row. */
  chunkBytes: 256 * 1024,
  /** How much output one session may add to a commit, so that a verbose agent does not starve the others. */
  tickBytes: 1024 * 1024,
  /** The slow poll beside file events: the most that a lost wake costs. */
  pollMs: 250,
  /** How often to check that a session's process is alive. */
  livenessMs: 2_000,
  /** Output without a final newline is stored after it has not changed for this long. */
  partialLineMs: 400,
  /** The largest signal.json that is read. */
  signalBytes: 256 * 1024,
  /** Time between SIGTERM and SIGKILL. */
  stopGraceMs: 5_000,
  /** How long a started shim may take to write its pid. */
  shimStartMs: 60_000,
  /** How often a missing signal is requested before the agent counts as crashed. */
  signalRetries: 3,
  /** Retries of a run after a transient error, and the first delay; it doubles each time. */
  faultRetries: 3,
  retryMs: 1_000,
  /** How often an agent is asked to commit leftovers. */
  commitRequests: 1,
  /** How long a limit without an end holds; doubles with each in a row, up to the longest. */
  limitMs: 5 * 60_000,
  longestLimitMs: 5 * 60 * 60_000,
  /** How often a run continues after a limit, and the delay if it should be over. */
  limitWaits: 50,
  pastLimitMs: 60_000,
  /** How long a CLI that reported a limit may retry by itself. */
  limitGraceMs: 10_000,
  /** How often a lost run is resumed before it fails. */
  interruptions: 3,
  /** How long a kill waits for a fork that waits for a tool. */
  killPatienceMs: 30_000,
  /** Messages of one session in the history; the rest is only in its output. */
  messagesPerSession: 10_000,
  /** How much of one message the history keeps; the output has all of it. */
  messageCharacters: 64 * 1024,
  /** How much of an inherited conversation is replayed to a provider that cannot fork it. */
  replayCharacters: 200 * 1024,
  /** The longest label of a mark. */
  labelCharacters: 200,
  /** The longest text that is kept as an agent's draft. */
  draftCharacters: 256 * 1024,
  /** The minimum interval between writes of projections for other programs. */
  projectionMs: 200,
  /** A process that stays this long after a valid signal is stopped. */
  hungAfterSignalMs: 60_000,
  /**
   * A process that stays silent this long after its result is stopped; longer, since it may wait for work in the
   * background.
   */
  hungAfterResultMs: 5 * 60_000,
  /** Events kept in memory for live streams; older ones are read from the store. */
  recentEvents: 4_096,
  /** The interval of keep-alive comments on an SSE stream. */
  heartbeatMs: 15_000,
  /** Projects that one agent may have. */
  projectsOfAgent: 16,
  /** Rows in one page of a listing. */
  pageRows: 1_000,
  /** Open SSE streams at once. */
  streams: 512,
  /** Agents that the daemon starts at once; the rest wait. */
  parallelStarts: 4,
  /** Rolling backups of the database. */
  backups: 3,
  /** The longest name of a planned task, and of the phase it belongs to. */
  taskNameCharacters: 200,
  taskPhaseCharacters: 100,
  /** Dependencies of one task. */
  taskDependencies: 50,
  /** Uncompleted tasks of one project; stops a planner that loops. */
  openTasks: 5_000,
  /** How much of a task's result is kept, and passed to dependents. */
  taskSummaryCharacters: 8_000,
  /** How often agents may crash on a task before it is blocked. */
  taskCrashes: 3,
  /** Output files of a planning agent, and the size of each. */
  planFiles: 500,
  planFileBytes: 64 * 1024,
  /** How often a planning agent is asked to correct its output. */
  outputRequests: 1,
  /** Tasks requeued in one transaction. */
  requeuedTasks: 200,
  /** The longest description of an errand. */
  errandCharacters: 200,
  /** Errands in one listing. */
  listedErrands: 200,
  /** How often a merge is recomputed because its target moved. */
  mergeAttempts: 3,
  /** A mail up to this size is stored in its row; a longer one in a file. */
  mailBytes: 4_095,
  /** The largest mail. */
  mailSpillBytes: 1024 * 1024,
  /** How often a session may crash with a mail before that becomes a dead letter. */
  mailAttempts: 3,
  /** Unconfirmed mail of one running process. */
  mailInFlight: 64,
  /** Mail in one turn's prompt, and its bytes. */
  mailPerTurn: 50,
  mailPerTurnBytes: 64 * 1024,
  /** Mail waiting for one recipient. */
  pendingMail: 100_000,
  /** Mail in one page of a mailbox, and the default. */
  mailPageRows: 200,
  usualMailRows: 50,
  /** How long one request waits for mail, for how many agents, and concurrent waits. */
  mailWaitMs: 30_000,
  /** How long a command may take to print its mail before later mail goes into its agent's turn. */
  mailPrintMs: 5_000,
  mailWaitAgents: 200,
  mailWaits: 512,
  /** How much of its agent's last words a run records, and how much is returned as a result. */
  detailCharacters: 2_000,
  resultCharacters: 64 * 1024,
  /** How long one request waits for a result, and concurrent waits. */
  resultWaitMs: 30_000,
  resultWaits: 512,
  /** The largest file read in a mailbox directory, and how many are read before yielding. */
  mailFileBytes: 1536 * 1024,
  mailFilesPerTick: 200,
  /** Reported invalid files per mailbox. */
  mailFileRefusals: 100,
  /** Watched mailbox directories; the sweep covers others. */
  mailboxWatches: 512,
  /** How often ordinary mail may wake an agent per hour; the rest waits for its next turn. */
  mailWakesPerHour: 30,
  /** The interval of the sweep over waiting mail, beside the triggers. */
  routeMs: 120_000,
  /** The intervals of health checks and nudges, and the minimum time between two nudges of one agent. */
  healthMs: 60_000,
  /** The daemon's log is rotated at this size; one old file is kept. */
  logBytes: 10 * 1024 * 1024,
  /** How long an agent that is done and proposed nothing stays, for follow-ups. */
  leaveMs: 3 * 60_000,
  nudgeMs: 60_000,
  nudgeGapMs: 120_000,
  /** Without changes, nudges come after 2, 4, 8 … minutes, up to this. */
  longestNudgeGapMs: 30 * 60_000,
  /** An agent without output for this long is stuck; if a tool runs or may run, only after the second. */
  stuckMs: 30 * 60_000,
  stuckToolMs: 2 * 60 * 60_000,
  /** This many equal calls with equal results in a row are a loop, as are this many equal turns. */
  sameToolCalls: 8,
  sameTurns: 4,
  /** How many of a session's last messages are searched for a loop. */
  loopMessages: 64,
  /** Restarts of a persistent agent per hour after crashes, and the first delay; it doubles each time. */
  restartsPerHour: 3,
  restartMs: 60_000,
  /** Events read in one search for news. */
  newsEvents: 500,
  /** Unowned files are removed after this long, and how often to check. */
  leftoverMs: 24 * 60 * 60_000,
  leftoverLookMs: 60 * 60_000,
  /** How often the system clock is compared with the daemon's, and the difference that counts as set. */
  clockLookMs: 1_000,
  clockJumpMs: 2_000,
  /** How long finished requests and reported invalid files are remembered. */
  memoryMs: 24 * 60 * 60_000,
  /** How long a survey of foreign agents is cached. */
  adoptionMs: 3_000,
  /** Open questions of one agent. */
  openQuestions: 100,
  /** The default deadline of a question. */
  questionMs: 10 * 60_000,
  /** The longest wait for an answer. */
  longestQuestionMs: 7 * 24 * 60 * 60_000,
  /** A question given to a listener without an answer is given out again after this time. */
  listenMs: 60_000,
  /** How long an asking command may take to return for its answer before that is sent by mail. */
  answerGraceMs: 5_000,
  /** Open changes per project; the longest title and text of one. */
  openChanges: 1_000,
  changeTitleCharacters: 200,
  changeTextCharacters: 16_000,
  /** Comments on one change: in total, by agents, by agents without blocking, and by one agent. */
  changeComments: 500,
  changeCommentsOfAgents: 450,
  changeRemarks: 300,
  changeCommentsOfOne: 100,
  /** Default number of changes in a listing; checks of a change in a listing and in detail; checks of a queue. */
  usualChanges: 50,
  listedChecks: 3,
  shownChecks: 50,
  queueChecks: 20,
  /** Checks of a project searched for those of one change. */
  searchedChecks: 500,
  /** Work that agents finished this shortly before a queue started is proposed as well. */
  finishedMs: 60_000,
  /** Default number of tasks in a history. */
  usualHistory: 10,
  /** Changes per check, and the maximum that a project may configure. */
  batchChanges: 16,
  mostBatchChanges: 64,
  /** Default and maximum duration of one command of a check. */
  checkMs: 30 * 60_000,
  longestCheckMs: 24 * 60 * 60_000,
  /**
   * Output of a check: bytes before it is ended, bytes stored, and bytes at its end searched for a summary.
   */
  checkPrintBytes: 256 * 1024 * 1024,
  checkStoredBytes: 8 * 1024 * 1024,
  checkEndBytes: 256 * 1024,
  /** How long a check's processes may take to exit. */
  checkGraceMs: 2_000,
  /** How often the queue polls: for others' changes to main, and for what it waits for. */
  queueMs: 10_000,
  queueWaitMs: 2_000,
  /** How long a queue waits for related events before it runs a pass. */
  queueDebounceMs: 20,
  /** How long others wait for a change that is checked alone. */
  aloneMs: 2 * 60_000,
  /** How often a red main is rechecked automatically. */
  recheckMs: 5 * 60_000,
  /** How often an obstacle is rechecked soon, before that slows down. */
  quickWaits: 30,
  /** How often a remote is polled while nothing waits to be merged. */
  remoteMs: 60_000,
  /** How long a command waits for a remote before it uses the last known state. */
  askRemoteMs: 10_000,
  /** Steps of one queue pass before yielding. */
  queueSteps: 200,
  /** Cached merges of the queue. */
  rememberedSteps: 2_000,
  /** How often a change is returned before a person is asked. */
  changeReturns: 3,
  /** How often a review of one head is started. */
  reviewAttempts: 2,
  /** How much of a failed check's end is quoted to its fixer, and how much is searched for it. */
  noticeLines: 40,
  noticeBytes: 2_400,
  noticeReadBytes: 64 * 1024,
  /** Comments quoted to a change's author, and how much of each; `pawl change show` has the rest. */
  noticeComments: 5,
  noticeCommentCharacters: 400,
  /** How often worktrees are rebased onto main, and the first delay after the start. */
  refreshMs: 5 * 60_000,
  firstRefreshMs: 30_000,
  /** Heads of merged changes that a branch may have started at before they were squashed. */
  landedHeads: 50,
  /** Branches compared to foresee conflicts, and new pairs per pass. */
  comparedBranches: 64,
  comparisons: 50,
  /** Files per branch compared one by one; a branch with more is compared with every other. */
  comparedFiles: 10_000,
  /** Files listed to authors of conflicting branches, and how long that is remembered. */
  foreseenFiles: 500,
  foreseenMs: 30 * 24 * 60 * 60_000,
  /**
   * How often a forge is polled, the delay after an interrupted poll, and how long our permissions there are cached.
   */
  forgeMs: 15_000,
  forgeRetryMs: 60_000,
  forgeLinkMs: 60 * 60_000,
  /** Changes opened on a forge per poll, comments posted, and latest changes searched for closed ones. */
  forgeOpens: 10,
  forgeComments: 20,
  forgeClosed: 200,
  /** How long a forge's CI may take to notice a new head before it counts as having none. */
  forgeGraceMs: 60_000,
  /** The longest text of an issue. */
  forgeTextCharacters: 60_000,
  /** A git command that takes longer is ended. */
  gitMs: 120_000,
} as const;
