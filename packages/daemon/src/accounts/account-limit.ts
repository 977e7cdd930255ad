/** Limits for account data. Units come last in the names. */
export const accountLimits = {
  /** The longest key or token. */
  secretCharacters: 16 * 1024,
  /** Bytes read of `secret.json`, and of a login file. */
  secretFileBytes: 256 * 1024,
  /** The largest config directory that is copied: bytes, entries, depth. */
  directoryBytes: 64 * 1024 * 1024,
  directoryEntries: 20_000,
  directoryDepth: 32,
  /** The largest conversation that is moved to another account, and how many files are searched for it. */
  conversationBytes: 512 * 1024 * 1024,
  conversationEntries: 200_000,
  /** Files of a config directory that are searched for secrets. */
  loginFiles: 32,
  /** Timeout of an account test, and how much of its output is read. */
  testMs: 60_000,
  testBytes: 4 * 1024 * 1024,
  /** How much of a CLI's answer a test shows. */
  testCharacters: 500,
} as const;
