/** What bounds a call. Clients usually give up a call after sixty seconds, so that waits end before that. */
export const mcpLimits = {
  /** How long `ask` and `listen` wait when the caller does not say, and at the most. */
  waitSeconds: 45,
  longestWaitSeconds: 600,
  /** How long what follows an answer may take. */
  afterwardsMs: 10_000,
  /** How often a client that asked for it hears that a wait goes on. */
  progressMs: 10_000,
  /** How long a daemon that is away, as when it is being restarted, is waited for, and how often it is looked for. */
  awayMs: 15_000,
  retryMs: 100,
  /** Members and elements that the arguments of one call may have. */
  argumentElements: 1_000,
  /** The largest message on stdin, and the largest body of a request. */
  messageBytes: 4 * 1024 * 1024,
  /** Agents in one answer, and how much of each one's task. */
  listedAgents: 200,
  taskCharacters: 200,
  /** Mail in one answer, and how much of each; how much of one that is read alone; and how many are acknowledged at once. */
  listedMail: 20,
  listedMailCharacters: 1_000,
  mailCharacters: 64 * 1024,
  ackedMail: 100,
} as const;
