import { limits } from '@pawl/schema/limit';

/** Limits of checks. Units come last in the names. */
export const checkLimits = {
  /** The delay before a retry after a lack of space. */
  retryMs: 500,
  /** How often processes that survive KILL are ended again, before the check is given up. */
  stopAttempts: 3,
  /** Below this much free space, the error of a failed clone mentions it. */
  lowDiskMegabytes: 64,
  /** The longest stored reason of a failure. */
  detailCharacters: 1_000,
  /** The largest of our own files in a check's directory that is read. */
  noteBytes: 64 * 1024,
  /** Patterns of JUnit files that are used, how long each may be, and how many `*` it may have. */
  junitPatterns: 16,
  junitPatternCharacters: 200,
  junitPatternStars: 8,
  /** JUnit files of one step that are read, their total size, and entries that are searched for them. */
  junitFiles: 2_000,
  junitBytes: 32 * 1024 * 1024,
  junitEntries: 200_000,
} as const;

/** Limits that tests shrink. */
export type CheckBounds = {
  graceMs: number;
  pollMs: number;
  livenessMs: number;
  printBytes: number;
  storedBytes: number;
  endBytes: number;
};

export const defaultBounds: CheckBounds = {
  graceMs: limits.checkGraceMs,
  pollMs: limits.pollMs,
  livenessMs: limits.livenessMs,
  printBytes: limits.checkPrintBytes,
  storedBytes: limits.checkStoredBytes,
  endBytes: limits.checkEndBytes,
};
