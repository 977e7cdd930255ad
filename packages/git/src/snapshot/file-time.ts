import { lutimesSync } from 'node:fs';

/**
 * Sets the time of a file or link, exact to the microsecond. Node takes seconds in a double, which is exact to about
 * 240 ns only. A whole second stays exact; any other time goes to the middle of its microsecond, where rounding cannot
 * lead into the one before.
 */
export function setFileTime(path: string | Buffer, timeNs: bigint): void {
  const isWhole = timeNs % 1_000_000_000n === 0n;
  const seconds = Number(isWhole ? timeNs : timeNs - (timeNs % 1_000n) + 500n) / 1e9;
  lutimesSync(path, seconds, seconds);
}
