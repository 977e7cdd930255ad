/** The bounds of what goes into a prompt and of what is shown of it. Units come last in the names. */
export const promptLimits = {
  /** The largest custom text of a repository that is appended to a prompt. */
  customBytes: 64 * 1024,
  /** How much of the results of other tasks is told in a prompt; their files have all of it. */
  dependencyCharacters: 32 * 1024,
  /** How much of a prompt that was sent is shown. */
  shownPromptBytes: 1024 * 1024,
  /** How much of all input files of an agent together is shown, and how many of them. */
  shownInputBytes: 500 * 1024,
  shownInputFiles: 200,
} as const;
