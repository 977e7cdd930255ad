/** Bounds of requests for approval. */
export const approvalLimits = {
  /** Open requests of one session; further ones are denied at once, so that the inbox stays usable. */
  openPerSession: 50,
  /** A longer request is denied without asking, since no person could review it. */
  detailBytes: 1024 * 1024,
  titleCharacters: 500,
  nameCharacters: 200,
  reasonCharacters: 4_000,
} as const;
