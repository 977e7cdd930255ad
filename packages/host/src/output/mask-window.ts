import { hostLimits } from '../host-limit.ts';
import type { MaskedPlace, SecretMask } from './secret-mask.ts';

/** A part of a file: what is about to be given, with what was given before it and what follows it. */
export type Window = {
  bytes: Buffer;
  /** How many of the bytes were given earlier. */
  before: number;
  /** Whether nothing follows in the file. */
  reachesEnd: boolean;
};

/** How much is to be given, whether more may follow it in the file, and whether it is cut for its size only. */
export type Taking = { length: number; last: boolean; cutForSize: boolean };

const asterisk = 0x2a;

/**
 * Masks the secrets in what is about to be given, and holds back the beginning of one whose rest may still come. Returns
 * how much may be given, and which bytes have to be overwritten in the file first.
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
    // The process was ended in the middle of a secret: what there is of it is masked, too.
    if (begunBytes >= hostLimits.secretBytes) places.push({ start: unfinished, end: bytes.length });
  } else if (before + length > unfinished) {
    // A few bytes may be anything; they are held back only as long as that holds up nothing else.
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
