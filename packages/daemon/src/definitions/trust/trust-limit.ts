/** The bounds of what is looked at for trust, which anybody who can write to a repository may fill. */
export const trustLimits = {
  /** Entries of directories that one look takes in, whatever they are. */
  entries: 5_000,
  /** Files of one look; a repository with more cannot be judged and is not trusted. */
  files: 500,
  /** How deep a directory of settings may be nested. */
  depth: 16,
  /** Contents of one file that are trusted at once: branches have different ones. The oldest is forgotten. */
  contentsPerFile: 20,
  /** Files whose contents are remembered for one project. */
  rememberedFiles: 2_000,
  /** What a file would do, in lines, and the length of each. */
  summaryLines: 30,
  summaryCharacters: 160,
  /** How deep settings may be nested to be summarised. */
  summaryDepth: 20,
} as const;
