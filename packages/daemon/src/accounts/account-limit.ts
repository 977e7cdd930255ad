/** The bounds of what is kept for accounts. Units come last in the names. */
export const accountLimits = {
  /** The longest key or token. */
  secretCharacters: 16 * 1024,
  /** What is read of `secret.json`, and of a file with a login. */
  secretFileBytes: 256 * 1024,
  /** The largest config directory that is copied, its entries, and how deep they may lie. */
  directoryBytes: 64 * 1024 * 1024,
  directoryEntries: 20_000,
  directoryDepth: 32,
  /** The largest conversation that is moved to another account, and how many files are looked at to find it. */
  conversationBytes: 512 * 1024 * 1024,
  conversationEntries: 200_000,
  /** Files of a config directory that are searched for secrets. */
  loginFiles: 32,
  /** How long a test of an account may take, and how much of its output is read. */
  testMs: 60_000,
  testBytes: 4 * 1024 * 1024,
  /** How much is told of what a CLI said in a test. */
  testCharacters: 500,
} as const;
