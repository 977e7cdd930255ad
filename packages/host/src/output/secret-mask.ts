import type { Hidden } from './hidden-text.ts';
import { hiddenInBytes, hiddenInText, strip } from './hidden-text.ts';
import { hostLimits } from '../host-limit.ts';

/** Finds secrets in bytes, even with escape sequences or invisible characters inside. */
export type SecretMask = {
  /** How far a split secret extends beyond the split. */
  readonly reachBytes: number;
  /** Positions of secrets, in order; overlapping ones are merged. */
  find(bytes: Buffer): MaskedPlace[];
  /** The index at which an unfinished secret may start; the length if there is none. */
  unfinishedFrom(bytes: Buffer): number;
};

/** Half-open range. */
export type MaskedPlace = { start: number; end: number };

/** Makes a mask; null if there is nothing to mask. Ignores secrets that are too short. */
export function createSecretMask(secrets: readonly string[]): SecretMask | null {
  const needles = needlesOf(secrets).map((text) => Buffer.from(text));
  if (needles.length === 0) return null;
  const byteTexts = needles.map((needle) => needle.toString('latin1'));
  const longestBytes = Math.max(...needles.map((needle) => needle.length));
  const reachBytes = longestBytes - 1 + hostLimits.hiddenBytes;
  return {
    reachBytes,
    find: (bytes) =>
      joined([
        ...needles.flatMap((needle) => placesOf(needle, bytes)),
        ...hiddenPlaces(bytes.toString('latin1'), byteTexts, hiddenInBytes),
      ]),
    unfinishedFrom: (bytes) =>
      Math.min(
        ...needles.map((needle) => unfinishedFrom(needle, bytes)),
        hiddenUnfinished(bytes.toString('latin1', Math.max(0, bytes.length - reachBytes)), byteTexts, bytes.length),
      ),
  };
}

/** Masks every secret in a text: requests, messages, log lines. */
export function redactText(text: string, secrets: readonly string[]): string {
  return createRedaction(secrets)(text);
}

/** The same for many texts. */
export function createRedaction(secrets: readonly string[]): (text: string) => string {
  const needles = needlesOf(secrets);
  if (needles.length === 0) return (text) => text;
  return (text) => {
    const places = joined([
      ...needles.flatMap((needle) => placesOf(needle, text)),
      ...hiddenPlaces(text, needles, hiddenInText),
    ]);
    let redacted = '';
    let from = 0;
    for (const { start, end } of places) {
      redacted += text.slice(from, start) + '*'.repeat(end - start);
      from = end;
    }
    return redacted + text.slice(from);
  };
}

/** Positions of secrets in a text with hidden characters removed. */
function hiddenPlaces(text: string, needles: readonly string[], hidden: Hidden): MaskedPlace[] {
  if (!hidden.maybe.test(text)) return [];
  return [hidden.marks, hidden.strings].flatMap((pattern) => {
    const stripped = strip(text, pattern);
    if (stripped === null) return [];
    return needles
      .flatMap((needle) => placesOf(needle, stripped.text))
      .map(({ start, end }) => ({ start: stripped.original(start), end: stripped.original(end - 1) + 1 }));
  });
}

/** The same for an unfinished secret at the end; `end` if there is none long enough to matter. */
function hiddenUnfinished(tail: string, needles: readonly string[], end: number): number {
  if (!hiddenInBytes.maybe.test(tail)) return end;
  const { marks, strings, begun } = hiddenInBytes;
  const places = [tail, tail.replace(begun, '')].flatMap((text) =>
    [marks, strings].flatMap((pattern) => {
      const stripped = strip(text, pattern) ?? { text, original: (index: number) => index };
      const bytes = Buffer.from(stripped.text, 'latin1');
      return needles.flatMap((needle) => {
        const at = unfinishedFrom(Buffer.from(needle, 'latin1'), bytes);
        return bytes.length - at < hostLimits.secretBytes ? [] : [stripped.original(at)];
      });
    }),
  );
  return Math.min(end, ...places.map((at) => end - tail.length + at));
}

/**
 * The strings to search, longest first: each line of a secret, since output is split at lines, plain and JSON-escaped,
 * since most providers print JSON.
 */
function needlesOf(secrets: readonly string[]): string[] {
  const lines = secrets.flatMap((secret) => secret.split(/[\r\n]+/)).map((line) => line.trim());
  const needles = lines.flatMap((line) => [line, JSON.stringify(line).slice(1, -1)]);
  const long = needles.filter((needle) => Buffer.byteLength(needle) >= hostLimits.secretBytes);
  return [...new Set(long)].toSorted((a, b) => b.length - a.length).slice(0, hostLimits.secrets);
}

function placesOf<Text extends string | Buffer>(needle: Text, text: Text): MaskedPlace[] {
  const places: MaskedPlace[] = [];
  const next = (from: number) =>
    typeof text === 'string' ? text.indexOf(needle as string, from) : text.indexOf(needle, from);
  for (let at = next(0); at !== -1; at = next(at + 1)) {
    const last = places.at(-1);
    // A repetitive secret may overlap itself many times: merge these.
    if (last !== undefined && at <= last.end) last.end = at + needle.length;
    else places.push({ start: at, end: at + needle.length });
  }
  return places;
}

function joined(places: MaskedPlace[]): MaskedPlace[] {
  if (places.length < 2) return places;
  const result: MaskedPlace[] = [];
  for (const { start, end } of places.toSorted((a, b) => a.start - b.start)) {
    const last = result.at(-1);
    if (last !== undefined && start <= last.end) last.end = Math.max(last.end, end);
    else result.push({ start, end });
  }
  return result;
}

function unfinishedFrom(needle: Buffer, bytes: Buffer): number {
  const first = needle[0] ?? 0;
  const from = Math.max(0, bytes.length - needle.length + 1);
  for (let at = bytes.indexOf(first, from); at !== -1; at = bytes.indexOf(first, at + 1)) {
    if (bytes.compare(needle, 0, bytes.length - at, at) === 0) return at;
  }
  return bytes.length;
}
