/** Bounds of definition files, which anybody with write access to a repository controls. Units come last in names. */
export const definitionLimits = {
  fileBytes: 256 * 1024,
  /** YAML parsing is superlinear on hostile text, so this stays small. */
  frontMatterBytes: 16 * 1024,
  /** How often YAML aliases may be expanded before it counts as an attack. */
  aliases: 20,
  /** A definition needs three levels. */
  nesting: 50,
  /** Entries of one list, such as `tools`. */
  listEntries: 256,
  /** How much of a foreign value an error message repeats. */
  quotedCharacters: 60,
  /** Files beyond this, in name order, are reported and not read. */
  filesPerDirectory: 100,
  /** Directory entries examined, of any kind. */
  entriesPerDirectory: 10_000,
  /** A file changed more recently than this is read again next time: its mtime cannot prove that it is unchanged. */
  settledMs: 2_000,
} as const;
