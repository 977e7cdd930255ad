/** Every bound of the model server, in one place. Units come last in the names. */
export const modelServerLimits = {
  /** The largest request body. */
  bodyBytes: 32 * 1024 * 1024,
  /** Connections that may be open at the same time. */
  connections: 256,
  /** Requests that are remembered for tests; older ones are forgotten. */
  requestsKept: 1_000,
  /** Names of offered tools that one remembered request has. */
  toolNamesKept: 300,
  /** Marks that one remembered request has. */
  marksKept: 100,
  /** Steps of one scenario. */
  steps: 1_000,
  /** Characters of `[[steps:…]]` in a message. */
  inlineCharacters: 64 * 1024,
  /** The longest text, command or file of one step. */
  stepCharacters: 256 * 1024,
  /** The largest scenario file. */
  scenarioBytes: 1024 * 1024,
  /** The longest wait between two chunks of a slow stream. */
  chunkMs: 60_000,
  /** Pieces into which one text is cut for a stream. */
  pieces: 200,
  /** The shortest of these pieces. */
  pieceCharacters: 24,
  /** How much of a tool's result or an earlier message an answer quotes. */
  quoteCharacters: 400,
  /** How deep the JSON schema of a tool is filled. */
  schemaDepth: 8,
} as const;
