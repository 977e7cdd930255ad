/** Runtime events per event of the log: those made from it, then those that are not stored. */
const share = 10_000_000;

/** The first number for events that are not stored; the numbers before belong to the stored event. */
const firstLive = 1_000;

/**
 * The number of a runtime event. It rises strictly over all of them, stored or not: Pawl's own `seq`, followed by a
 * position.
 */
export function runtimeSeq(seq: number, position: number): number {
  return seq * share + position;
}

/** Pawl's own `seq` in the number of a runtime event. */
export function logSeq(runtime: number): number {
  return Math.floor(runtime / share);
}

/** The next number after `last` for an event that is not stored; null if there is none before the next stored one. */
export function nextLiveSeq(seq: number, last: number): number | null {
  const next = Math.max(last + 1, runtimeSeq(seq, firstLive));
  return next < runtimeSeq(seq + 1, 0) ? next : null;
}

/** The number just before the first event after `seq` that is not stored. */
export function beforeLive(seq: number): number {
  return runtimeSeq(seq, firstLive - 1);
}
