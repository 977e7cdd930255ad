import { hostLimits } from '../host-limit.ts';
import type { MaskedPlace, SecretMask } from './secret-mask.ts';

/** A part of a file: bytes about to be returned, with the bytes before and after them. */
export type Window = {
  bytes: Buffer;
  /** How many of the bytes were returned earlier. */
  before: number;
  /** Whether the file ends here. */
  reachesEnd: boolean;
};

/** How much to return, whether more may follow in the file, and whether only the size limit cuts it. */
export type Taking = { length: number; last: boolean; cutForSize: boolean };

const asterisk = 0x2a;

/**
 * Masks secrets in bytes about to be returned, and holds back the start of a possibly unfinished one. Returns how much
 * may be returned, and which bytes to overwrite in the file first.
 */
export function maskWindow(
  mask: SecretMask,
  window: Window,
  taking: Taking,
): { length: number; place: MaskedPlace | null } {
  const { bytes, before } = window;
  const places = mask.find(bytes);
  const unfinished = window.reachesEnd ? mask.unfinishedFrom(bytes) : bytes.length;
  const begunBytes = bytes.length - unfinished;
  let { length } = taking;
  if (taking.last) {
    // The process ended in the middle of a secret: mask its start, too.
    if (begunBytes >= hostLimits.secretBytes) places.push({ start: unfinished, end: bytes.length });
  } else if (before + length > unfinished) {
    // A few bytes may be anything; hold them back only if that delays nothing else.
    const hold = begunBytes >= hostLimits.secretBytes || (taking.cutForSize && unfinished > before);
    if (hold) length = Math.max(0, unfinished - before);
  }
  const end = before + length;
  const hit = places.filter((place) => place.start < end && place.end > before);
  for (const place of hit) bytes.fill(asterisk, Math.max(before, place.start), place.end);
  const [first, last] = [hit.at(0), hit.at(-1)];
  if (first === undefined || last === undefined) return { length, place: null };
  return { length, place: { start: Math.max(before, first.start), end: last.end } };
}
