/** Bounds of the sandbox itself. Those of a launch are in its `SandboxLimits`. */
export const sandboxBounds = {
  /** The size of each empty directory in memory. */
  emptyBytes: 512 * 1024 * 1024,
  /** How long a probe may take. */
  probeMs: 20_000,
  /** How much output of a probe is read. */
  probeOutputBytes: 64 * 1024,
  /** How long the output of an ended sandbox may stay open before something counts as having survived it. */
  survivorMs: 2_000,
} as const;
