/** Every bound of the scripted agent, in one place. Units come last in the names. */
export const scriptedLimits = {
  /** The longest line on stdin, and the longest prompt that is read as text. */
  inputBytes: 8 * 1024 * 1024,
  /** Prompts that may wait for their `wait` step; stdin is not read further while so many wait. */
  queuedPrompts: 10_000,
  /** The largest scenario file. */
  scenarioBytes: 1024 * 1024,
  /** Steps of a scenario, with every `repeat` unrolled. */
  scenarioSteps: 100_000,
  /** How deep `repeat` steps may nest. */
  repeatDepth: 8,
  /** Faults of a scenario file that one message lists. */
  scenarioFaults: 10,
  /** How much of the first user turn, the task, the conversation file remembers. */
  taskCharacters: 16 * 1024,
  /** How much of each further user turn it remembers. */
  turnCharacters: 1_000,
  /** How many of the latest user turns the conversation file remembers. They are counted without a bound. */
  turnsKept: 100,
  /** How many names of user turns it remembers: what comes again comes soon, after a sender's crash. */
  uuidsKept: 500,
  /** How many ids of mails it remembers. */
  lettersKept: 2_000,
  /** The largest conversation file. */
  conversationBytes: 16 * 1024 * 1024,
  /** Paths that are remembered for the next `commit`; beyond them it stages everything. */
  writtenPaths: 1_000,
  /** The length of `{prompt}`. */
  promptCharacters: 200,
  /** How much of a command's output its tool result shows. */
  toolOutputCharacters: 30_000,
  /** A command that runs longer is ended. */
  toolMs: 10 * 60 * 1_000,
  /** How long output is still read after a command has ended while a child of it keeps the pipe open. */
  pipeDrainMs: 200,
  /** How long the end of the process waits for a reader that has stopped reading. */
  flushMs: 1_000,
  /** The longest `sleep`, `stream.for`, `tool.takes`, `signal.delay` or `limit.until`. */
  durationMs: 24 * 60 * 60 * 1_000,
  /** Pieces of one `stream`. */
  streamPieces: 10_000,
  /** Lines of one `flood`. */
  floodLines: 100_000_000,
  /** The longest line that `flood` and `garbage` make, and the most bytes of one `garbage`. */
  noiseBytes: 256 * 1024 * 1024,
  /** How much `flood` and `garbage` hand to the pipe at once. */
  writeBytes: 64 * 1024,
  /** How long a `fork_child` may live. */
  childSeconds: 3_600,
  /** The largest manifest that `read_inputs` reads. */
  manifestBytes: 256 * 1024,
  /** Input files that `read_inputs` lists. */
  inputFiles: 200,
} as const;
