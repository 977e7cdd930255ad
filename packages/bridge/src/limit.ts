import { limits } from '@pawl/schema/limit';

/** Every bound of the bridge, in one place. Units come last in the names. */
export const bridgeLimits = {
  /** A line of the agent that is longer is not read but reported by its length. */
  lineBytes: limits.lineBytes,
  /** The longest line on stdin; a longer one is skipped, and that is told. */
  inputBytes: 8 * 1024 * 1024,
  /** Inputs that may wait for their turn; stdin is not read further while so many wait. */
  queuedInputs: 256,
  /** Names of inputs that are remembered: one that comes again, after a sender's crash, is not handed over again. */
  seenInputs: 1_000,
  /** How long an agent may take to be ready for its first prompt. */
  openMs: 120_000,
  /** How long an agent that is asked to stop may take, before what is left of it is killed. */
  politeMs: 2_000,
  /** How much later than the agent's end our own signal may come, when both were sent at once. */
  signalMs: 1_000,
  /** How long an agent may take to leave by itself when there are no more turns. */
  leaveMs: 3_000,
  /** How long output is still read after the agent has ended while a child of it keeps the pipe open. */
  drainMs: 500,
  /** How long the end of the process waits for a reader that has stopped reading. */
  flushMs: 1_000,
  /** How much of the agent's last words on stderr is told when it dies. */
  lastWordsBytes: 4 * 1024,
  /** Requests of ours that may wait for an answer. */
  pendingRequests: 1_000,
  /** Tool calls of one turn that are remembered until their result. */
  toolCalls: 1_000,
  /** A text that is still being written is told in parts of this length. */
  textCharacters: 256 * 1024,
  /** The largest file with a system prompt or with MCP servers. */
  fileBytes: 1024 * 1024,
} as const;
