/** Every bound of the system, in one place. Units come last in the names. */
export const limits = {
  /** The largest task text that `work` takes. */
  taskBytes: 1024 * 1024,
  /** The longest PATH of a shell that goes along with a request. */
  searchPathCharacters: 8_192,
  /** The largest HTTP request body. */
  bodyBytes: 4 * 1024 * 1024,
  /** A line longer than this is stored whole but not parsed; it is marked as oversized. */
  lineBytes: 1024 * 1024,
  /** The largest single chunk row. */
  chunkBytes: 256 * 1024,
  /** How much output one session may add to one commit, so that a loud agent does not starve the others. */
  tickBytes: 1024 * 1024,
  /** The slow poll beside file events: what a lost wake-up costs at the most. */
  pollMs: 250,
  /** How often it is checked that a session's process still lives, in case it died without leaving a word. */
  livenessMs: 2_000,
  /** Output without a final newline is stored after it has stood still for this long. */
  partialLineMs: 400,
  /** The largest signal.json that is read. */
  signalBytes: 256 * 1024,
  /** TERM, then this long, then KILL. */
  stopGraceMs: 5_000,
  /** How long a started shim may take to write its pid. */
  shimStartMs: 60_000,
  /** How often a missing signal is asked for before the agent counts as crashed. */
  signalRetries: 3,
  /** How often a run is tried again after an error that passes, and the first pause; each further one is twice as long. */
  faultRetries: 3,
  retryMs: 1_000,
  /** How often an agent is asked to commit what it left uncommitted. */
  commitRequests: 1,
  /** A limit that names no end holds this long; each further one in a row twice as long, up to the longest. */
  limitMs: 5 * 60_000,
  longestLimitMs: 5 * 60 * 60_000,
  /** How often a run goes on after a limit, and how long it waits for one that should be over. */
  limitWaits: 50,
  pastLimitMs: 60_000,
  /** How long a CLI that reported a limit may go on trying by itself. */
  limitGraceMs: 10_000,
  /** How often a run goes on after its session was lost, before it counts as failed. */
  interruptions: 3,
  /** How long a kill waits for a fork that waits for a tool. */
  killPatienceMs: 30_000,
  /** Messages of one session that become history; what it says beyond them is in its output only. */
  messagesPerSession: 10_000,
  /** How much of one message is kept in the history; its output has all of it. */
  messageCharacters: 64 * 1024,
  /** How much of an inherited conversation is told to a provider that cannot branch off it by itself. */
  replayCharacters: 200 * 1024,
  /** The longest label of a mark. */
  labelCharacters: 200,
  /** The longest text that is kept as an agent's draft. */
  draftCharacters: 256 * 1024,
  /** How often the projections for other programs are written at the most. */
  projectionMs: 200,
  /** After this long with a valid signal and a process that does not leave, the process is stopped. */
  hungAfterSignalMs: 60_000,
  /** Events that the stream keeps in memory for live clients; older ones are read from the store. */
  recentEvents: 4_096,
  /** Silence on an SSE stream is broken by a comment this often. */
  heartbeatMs: 15_000,
  /** Projects that one agent may have. */
  projectsOfAgent: 16,
  /** Rows in one page of a listing. */
  pageRows: 1_000,
  /** Open SSE streams at once. */
  streams: 512,
  /** Agents that the daemon starts at the same moment; the rest wait their turn. */
  parallelStarts: 4,
  /** Rolling backups of the database. */
  backups: 3,
  /** The longest name of a planned task, and of the phase it belongs to. */
  taskNameCharacters: 200,
  taskPhaseCharacters: 100,
  /** Tasks that one task may wait for. */
  taskDependencies: 50,
  /** Tasks of one project that are not completed; a planner that goes round in circles stops here. */
  openTasks: 5_000,
  /** How much of what came of a task is kept, and handed to those who depend on it. */
  taskSummaryCharacters: 8_000,
  /** An agent may crash so often on a task before nobody is put to it any more. */
  taskCrashes: 3,
  /** Tasks that are put back in one transaction. */
  requeuedTasks: 200,
  /** The longest description of an errand. */
  errandCharacters: 200,
  /** Errands in one listing. */
  listedErrands: 200,
  /** How often a merge is computed afresh because its target has moved meanwhile. */
  mergeAttempts: 3,
  /** A mail of up to this many bytes is a row of its own; of a longer one the whole is in a file. */
  mailBytes: 4_095,
  /** The largest mail. */
  mailSpillBytes: 1024 * 1024,
  /** How often a session may end badly with a mail in its hands before that mail is set aside. */
  mailAttempts: 3,
  /** Mail in the hands of one running process that has not shown its arrival yet. */
  mailInFlight: 64,
  /** Mail that is handed over in one turn's prompt, and how many bytes of it. */
  mailPerTurn: 50,
  mailPerTurnBytes: 64 * 1024,
  /** Mail that may wait for one recipient. */
  pendingMail: 100_000,
  /** Mail in one page of a mailbox, and what a page has when nobody says. */
  mailPageRows: 200,
  usualMailRows: 50,
  /** How long one request waits for mail, and for how many agents; and how many wait at once. */
  mailWaitMs: 30_000,
  /** How long a command that was given mail may take to print it, before later mail goes into its agent's turn. */
  mailPrintMs: 5_000,
  mailWaitAgents: 200,
  mailWaits: 512,
  /** How much of its agent's last words a run's record has, and how much of them is returned as a result. */
  detailCharacters: 2_000,
  resultCharacters: 64 * 1024,
  /** How long one request waits for a result; and how many wait at once. */
  resultWaitMs: 30_000,
  resultWaits: 512,
  /** The largest file in a mailbox directory that is read, and how many are looked at before others have their turn. */
  mailFileBytes: 1536 * 1024,
  mailFilesPerTick: 200,
  /** Files of one mailbox that are told to be refused before no more of them are told. */
  mailFileRefusals: 100,
  /** Mailbox directories that are watched; what lies in others is found by the sweep. */
  mailboxWatches: 512,
  /** How often an agent is woken by ordinary mail in an hour; what comes beyond that waits for its next turn. */
  mailWakesPerHour: 30,
  /** The sweep over all mail that waits, beside the triggers that make it quick. */
  routeMs: 120_000,
  /** How often health is looked at, and nudges are; and the shortest time between two nudges of one agent. */
  healthMs: 60_000,
  /** The daemon's log is continued in a new file when it is larger than this; the one before is kept. */
  logBytes: 10 * 1024 * 1024,
  /** How long an agent that is done and proposed nothing stays, so that a person can follow up. */
  leaveMs: 3 * 60_000,
  nudgeMs: 60_000,
  nudgeGapMs: 120_000,
  /** As long as nothing changes, nudges come after 2, 4, 8 … minutes, and never later than this. */
  longestNudgeGapMs: 30 * 60_000,
  /** Without any output for this long an agent counts as stuck; while a tool of it runs, or may run, only after the second. */
  stuckMs: 30 * 60_000,
  stuckToolMs: 2 * 60 * 60_000,
  /** The same call with the same result so often in a row is a loop, and so is the same turn so often in a row. */
  sameToolCalls: 8,
  sameTurns: 4,
  /** Of what a session has said last, as much is looked at to find a loop. */
  loopMessages: 64,
  /** How often in an hour an agent that stays is restarted after a crash, and the first pause; each further one is twice as long. */
  restartsPerHour: 3,
  restartMs: 60_000,
  /** Events that one look for news reads of the log. */
  newsEvents: 500,
  /** What belongs to nobody is put away when it has lain untouched for this long, and that is looked at this often. */
  leftoverMs: 24 * 60 * 60_000,
  leftoverLookMs: 60 * 60_000,
  /** How often the system's clock is compared with the daemon's own, and the difference from which on it counts as set. */
  clockLookMs: 1_000,
  clockJumpMs: 2_000,
  /** How long it is remembered which requests were done, and of which files it was told that they are refused. */
  memoryMs: 24 * 60 * 60_000,
  /** What was seen of other people's agents counts for this long, before it is looked for them again. */
  adoptionMs: 3_000,
  /** Questions of one agent that may be open at once. */
  openQuestions: 100,
  /** How long a question waits for its answer when nobody says otherwise. */
  questionMs: 10 * 60_000,
  /** The longest time that anybody may wait for an answer. */
  longestQuestionMs: 7 * 24 * 60 * 60_000,
  /** A question that a listener was given and did not answer is given out again after this time. */
  listenMs: 60_000,
  /** How long a command that has asked may take to come back for an answer before that is sent by mail. */
  answerGraceMs: 5_000,
  /** Changes of a project that may be open at once; the longest title and text of one. */
  openChanges: 1_000,
  changeTitleCharacters: 200,
  changeTextCharacters: 16_000,
  /** Comments on one change: altogether, of agents, of agents when they block nothing, and of one agent. */
  changeComments: 500,
  changeCommentsOfAgents: 450,
  changeRemarks: 300,
  changeCommentsOfOne: 100,
  /** Changes in a listing when nobody says how many; checks of a change in a listing, and when it is shown; checks of a queue. */
  usualChanges: 50,
  listedChecks: 3,
  shownChecks: 50,
  queueChecks: 20,
  /** Checks of a project that are looked through for those of one change. */
  searchedChecks: 500,
  /** What agents finished so shortly before a project's queue began is proposed as well. */
  finishedMs: 60_000,
  /** Tasks in a history when nobody says how many. */
  usualHistory: 10,
  /** Changes that go through one check together, and how many a project may ask for at the most. */
  batchChanges: 16,
  mostBatchChanges: 64,
  /** How long one command of a check may take when nobody says, and at the most. */
  checkMs: 30 * 60_000,
  longestCheckMs: 24 * 60 * 60_000,
  /** What a check may print before it is ended; what is stored of it, and how much of its end is looked at for its closing words. */
  checkPrintBytes: 256 * 1024 * 1024,
  checkStoredBytes: 8 * 1024 * 1024,
  checkEndBytes: 256 * 1024,
  /** How long processes of a check may take to leave when it is over. */
  checkGraceMs: 2_000,
  /** How often the queue looks by itself: at what somebody else did to main, and at what it waits for. */
  queueMs: 10_000,
  queueWaitMs: 2_000,
  /** How long what happens at about the same time is waited for before a queue is looked at. */
  queueDebounceMs: 20,
  /** How long others wait for a change that is checked by itself. */
  aloneMs: 2 * 60_000,
  /** How often a main that is red is checked again by itself. */
  recheckMs: 5 * 60_000,
  /** How often it is looked soon again for something that is in the way, before that is done less often. */
  quickWaits: 30,
  /** How often a remote is asked whether somebody has pushed, when nothing waits to be merged. */
  remoteMs: 60_000,
  /** How long a command waits for a remote that it would like to ask, before it goes by what was seen last. */
  askRemoteMs: 10_000,
  /** Steps that one look at a queue takes before others have their turn. */
  queueSteps: 200,
  /** Merges of the queue that are remembered, so that they are not worked out again. */
  rememberedSteps: 2_000,
  /** How often a change goes back to be put right before a person is asked. */
  changeReturns: 3,
  /** How often a review of one head is begun. */
  reviewAttempts: 2,
  /** How much of a failed check's end is told to those who are to put it right, and how much is looked at for it. */
  noticeLines: 40,
  noticeBytes: 2_400,
  noticeReadBytes: 64 * 1024,
  /** Comments that are quoted to a change's author, and how much of each; the others are in `pawl change show`. */
  noticeComments: 5,
  noticeCommentCharacters: 400,
  /** Worktrees are brought up to main this often, and the first time so long after the start. */
  refreshMs: 5 * 60_000,
  firstRefreshMs: 30_000,
  /** Heads of merged changes that a branch may have begun at before they were squashed. */
  landedHeads: 50,
  /** Branches that are compared with each other to foresee conflicts, and new pairs of them in one look. */
  comparedBranches: 64,
  comparisons: 50,
  /** Files of a branch that are compared one by one; one that changes more is compared with every other. */
  comparedFiles: 10_000,
  /** Files that the authors of two branches are told of before no more are, and how long it is remembered that they were. */
  foreseenFiles: 500,
  foreseenMs: 30 * 24 * 60 * 60_000,
  /** How often a forge is looked at, how soon again after a look that was cut short, and how long it is known what we may do there. */
  forgeMs: 15_000,
  forgeRetryMs: 60_000,
  forgeLinkMs: 60 * 60_000,
  /** Changes that one look opens on a forge, comments on a change that it says there, and the latest changes among which it looks for closed ones. */
  forgeOpens: 10,
  forgeComments: 20,
  forgeClosed: 200,
  /** How long a new head may take to be noticed by the forge's CI, before it counts as having none. */
  forgeGraceMs: 60_000,
  /** The longest text that becomes an issue. */
  forgeTextCharacters: 60_000,
  /** A git command that takes longer is ended. */
  gitMs: 120_000,
} as const;
