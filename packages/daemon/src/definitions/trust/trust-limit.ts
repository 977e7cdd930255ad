/** Limits for reading a repository's settings, which anyone with write access may fill. */
export const trustLimits = {
  /** Directory entries of one scan. */
  entries: 5_000,
  /** Files of one scan; a repository with more cannot be judged and is not trusted. */
  files: 500,
  /** How deep a directory of settings may be nested. */
  depth: 16,
  /** Trusted contents of one file, since branches differ. The oldest is dropped. */
  contentsPerFile: 20,
  /** Files with remembered contents per project. */
  rememberedFiles: 2_000,
  /** Lines of a summary, and the length of each. */
  summaryLines: 30,
  summaryCharacters: 160,
  /** How deep settings may be nested to be summarised. */
  summaryDepth: 20,
} as const;
