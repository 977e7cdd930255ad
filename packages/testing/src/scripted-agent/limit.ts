/** Bounds of the scripted agent. Units come last in names. */
export const scriptedLimits = {
  /** The longest line on stdin, and the longest text prompt. */
  inputBytes: 8 * 1024 * 1024,
  /** Prompts waiting for a `wait` step; stdin is not read further beyond this. */
  queuedPrompts: 10_000,
  /** The largest scenario file. */
  scenarioBytes: 1024 * 1024,
  /** Steps of a scenario, with every `repeat` unrolled. */
  scenarioSteps: 100_000,
  /** How deep `repeat` steps may nest. */
  repeatDepth: 8,
  /** Faults of a scenario file that one message lists. */
  scenarioFaults: 10,
  /** How much of the first user turn, the task, the conversation file keeps. */
  taskCharacters: 16 * 1024,
  /** How much of each further user turn it keeps. */
  turnCharacters: 1_000,
  /** How many of the latest user turns the conversation file keeps. Their count is unbounded. */
  turnsKept: 100,
  /** How many ids of user turns it keeps: repetitions come soon, after a sender's crash. */
  uuidsKept: 500,
  /** How many mail ids it keeps. */
  lettersKept: 2_000,
  /** The largest conversation file. */
  conversationBytes: 16 * 1024 * 1024,
  /** Paths remembered for the next `commit`; beyond them it stages everything. */
  writtenPaths: 1_000,
  /** The length of `{prompt}`. */
  promptCharacters: 200,
  /** How much of a command's output its tool result shows. */
  toolOutputCharacters: 30_000,
  /** Timeout of a command. */
  toolMs: 10 * 60 * 1_000,
  /** How long output is still read after a command has ended while a child keeps the pipe open. */
  pipeDrainMs: 200,
  /** How long the exit waits for a reader that has stopped reading. */
  flushMs: 1_000,
  /** The longest `sleep`, `stream.for`, `tool.takes`, `signal.delay` or `limit.until`. */
  durationMs: 24 * 60 * 60 * 1_000,
  /** Pieces of one `stream`. */
  streamPieces: 10_000,
  /** Lines of one `flood`. */
  floodLines: 100_000_000,
  /** The longest line that `flood` and `garbage` make, and the most bytes of one `garbage`. */
  noiseBytes: 256 * 1024 * 1024,
  /** How much `flood` and `garbage` write at once. */
  writeBytes: 64 * 1024,
  /** How long a `fork_child` may live. */
  childSeconds: 3_600,
  /** The largest manifest that `read_inputs` reads. */
  manifestBytes: 256 * 1024,
  /** Input files that `read_inputs` lists. */
  inputFiles: 200,
} as const;
