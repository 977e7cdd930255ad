/** Bounds of the engine. Units come last in names. */
export const engineLimits = {
  /** Text and tool input of one answer; an endless one is cut there. */
  answerCharacters: 2_000_000,
  /** How long a stream may be silent before the call counts as failed. */
  silenceMs: 5 * 60_000,
  /** Calls of a model for one answer, the first included. */
  attempts: 5,
  /** The first wait before a repeated call; each further one doubles it. */
  backoffMs: 500,
  /** The longest wait before a repeated call. If a server asks for more, it is a usage limit. */
  longestWaitMs: 60_000,
  /** How much of a vendor's error is kept. */
  errorCharacters: 2_000,
} as const;
