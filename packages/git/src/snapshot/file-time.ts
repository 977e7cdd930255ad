import { lutimesSync } from 'node:fs';

/**
 * Sets the mtime of a file or link, exact to the microsecond. Node takes seconds as a double, which is exact to about
 * 240 ns. A whole second stays exact; any other time goes to the middle of its microsecond, so that rounding cannot
 * change it.
 */
export function setFileTime(path: string | Buffer, timeNs: bigint): void {
  const isWhole = timeNs % 1_000_000_000n === 0n;
  const seconds = Number(isWhole ? timeNs : timeNs - (timeNs % 1_000n) + 500n) / 1e9;
  lutimesSync(path, seconds, seconds);
}
