/** Bounds of a call. Clients usually time out after sixty seconds, so waits end before that. */
export const mcpLimits = {
  /** Default and maximum wait of `ask` and `listen`. */
  waitSeconds: 45,
  longestWaitSeconds: 600,
  /** How long work after an answer may take. */
  afterwardsMs: 10_000,
  /** Interval of progress notifications during a wait. */
  progressMs: 10_000,
  /** How long to wait for an unavailable daemon, as during a restart, and how often to retry. */
  awayMs: 15_000,
  retryMs: 100,
  /** Members and elements in the arguments of one call. */
  argumentElements: 1_000,
  /** The largest message on stdin, and the largest request body. */
  messageBytes: 4 * 1024 * 1024,
  /** Agents in one answer, and how much of each task. */
  listedAgents: 200,
  taskCharacters: 200,
  /** Mails in one answer, and how much of each; how much of a single one; and how many are acknowledged at once. */
  listedMail: 20,
  listedMailCharacters: 1_000,
  mailCharacters: 64 * 1024,
  ackedMail: 100,
} as const;
