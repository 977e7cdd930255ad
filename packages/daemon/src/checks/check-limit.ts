import { limits } from '@pawl/schema/limit';

/** The bounds of checks that nobody else needs. Units come last in the names. */
export const checkLimits = {
  /** How long to wait before something is tried again that failed for want of room. */
  retryMs: 500,
  /** How often processes that survive KILL are ended again, before the check is given up. */
  stopAttempts: 3,
  /** A disk that has less room than this is named when a clone cannot be made. */
  lowDiskMegabytes: 64,
  /** The longest reason that is kept of a failure. */
  detailCharacters: 1_000,
  /** The largest of our own files in a check's directory that is read. */
  noteBytes: 64 * 1024,
  /** Patterns of JUnit files that are followed, how long each may be, and how many `*` it may have. */
  junitPatterns: 16,
  junitPatternCharacters: 200,
  junitPatternStars: 8,
  /** Files of one step that are read as JUnit, what they may hold together, and entries that are looked at to find them. */
  junitFiles: 2_000,
  junitBytes: 32 * 1024 * 1024,
  junitEntries: 200_000,
} as const;

/** What tests make small. */
export type CheckBounds = {
  graceMs: number;
  pollMs: number;
  livenessMs: number;
  printBytes: number;
  storedBytes: number;
  endBytes: number;
};

export const usualBounds: CheckBounds = {
  graceMs: limits.checkGraceMs,
  pollMs: limits.pollMs,
  livenessMs: limits.livenessMs,
  printBytes: limits.checkPrintBytes,
  storedBytes: limits.checkStoredBytes,
  endBytes: limits.checkEndBytes,
};
