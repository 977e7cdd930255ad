/** The bounds of definition files, which anybody who can write to a repository may fill. Units come last in the names. */
export const definitionLimits = {
  /** The largest file that is read as a definition. */
  fileBytes: 256 * 1024,
  /** The largest front matter; YAML takes more than linear time on hostile text, so this stays small. */
  frontMatterBytes: 16 * 1024,
  /** How often YAML aliases may be expanded before it counts as an attack. */
  aliases: 20,
  /** How deep a front matter may be nested; a definition needs three. */
  nesting: 50,
  /** Entries of one list, such as `tools`. */
  listEntries: 256,
  /** How much of a foreign value a reason repeats. */
  quotedCharacters: 60,
  /** Definition files of one directory; those after it in the order of names are reported and not read. */
  filesPerDirectory: 100,
  /** Entries of a directory that are looked at, whatever they are. */
  entriesPerDirectory: 10_000,
  /** A file that changed more recently than this is read again next time: its times cannot prove that it stood still. */
  settledMs: 2_000,
} as const;
