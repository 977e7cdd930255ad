/** Bounds of prompts, and of how much of them is shown. Units come last in names. */
export const promptLimits = {
  /** The largest custom text of a repository that is appended to a prompt. */
  customBytes: 64 * 1024,
  /** How much of the results of dependencies goes into a prompt; the input files have all of it. */
  dependencyCharacters: 32 * 1024,
  /** How much of a sent prompt is shown. */
  shownPromptBytes: 1024 * 1024,
  /** How much of an agent's input files is shown in total, and how many files. */
  shownInputBytes: 500 * 1024,
  shownInputFiles: 200,
} as const;
