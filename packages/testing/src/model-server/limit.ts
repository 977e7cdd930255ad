/** Bounds of the model server. Units come last in names. */
export const modelServerLimits = {
  /** The largest request body. */
  bodyBytes: 32 * 1024 * 1024,
  /** Concurrent connections. */
  connections: 256,
  /** Requests remembered for tests. */
  requestsKept: 1_000,
  /** Names of offered tools that one remembered request has. */
  toolNamesKept: 300,
  /** Marks that one remembered request has. */
  marksKept: 100,
  /** Steps of one scenario. */
  steps: 1_000,
  /** Tool calls in one answer. */
  callsTogether: 20,
  /** Characters of `[[steps:…]]` in a message. */
  inlineCharacters: 64 * 1024,
  /** The longest text, command or file of one step. */
  stepCharacters: 256 * 1024,
  /** The largest scenario file. */
  scenarioBytes: 1024 * 1024,
  /** The longest wait between two chunks of a slow stream. */
  chunkMs: 60_000,
  /** Pieces of one streamed text. */
  pieces: 200,
  /** The minimum length of a piece. */
  pieceCharacters: 24,
  /** How much of a tool's result or an earlier message an answer quotes. */
  quoteCharacters: 400,
  /** How deep the JSON schema of a tool is filled. */
  schemaDepth: 8,
} as const;
