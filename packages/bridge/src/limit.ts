import { limits } from '@pawl/schema/limit';

/** Bounds of the bridge. Units come last in names. */
export const bridgeLimits = {
  /** A longer line of the agent is not read, only reported by its length. */
  lineBytes: limits.lineBytes,
  /** The longest line on stdin; a longer one is skipped and reported. */
  inputBytes: 8 * 1024 * 1024,
  /** Queued inputs; stdin is not read further beyond this. */
  queuedInputs: 256,
  /** Remembered input ids: a repeated input, after a sender's crash, is not delivered again. */
  seenInputs: 1_000,
  /** How long an agent may take to be ready for its first prompt. */
  openMs: 120_000,
  /** How long an agent may take to stop before the rest of it is killed. */
  politeMs: 2_000,
  /** How long after the agent's end our own signal may come, if both were sent at once. */
  signalMs: 1_000,
  /** How long an agent may take to exit when there are no more turns. */
  leaveMs: 3_000,
  /** How long output is still read after the agent has ended while a child keeps the pipe open. */
  drainMs: 500,
  /** How long our exit waits for a reader that has stopped reading. */
  flushMs: 1_000,
  /** How much of the agent's stderr is reported when it dies. */
  lastWordsBytes: 4 * 1024,
  /** Our pending requests. */
  pendingRequests: 1_000,
  /** Prompts in one turn that only say why calls were denied: a model that tries for ever must not. */
  explanations: 20,
  /** Tool calls of one turn that are remembered until their result. */
  toolCalls: 1_000,
  /** A text that is still being written is reported in parts of this length. */
  textCharacters: 256 * 1024,
  /** The largest file with a system prompt or with MCP servers. */
  fileBytes: 1024 * 1024,
} as const;
