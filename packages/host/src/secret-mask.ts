import { hostLimits } from './host-limit.ts';

/** Finds secrets in bytes. */
export type SecretMask = {
  /** The length of the longest secret: a secret that is cut reaches less than this far beyond the cut. */
  readonly longestBytes: number;
  /** Where secrets stand in `bytes`, in order; those that overlap are one place. */
  find(bytes: Buffer): MaskedPlace[];
  /** Where `bytes` may have the beginning of a secret at their end, whose rest is still to come; their length if nowhere. */
  unfinishedFrom(bytes: Buffer): number;
};

/** From the first byte to the one after the last. */
export type MaskedPlace = { start: number; end: number };

/** A mask for these secrets; null when there is nothing to look for. What is too short to be one is left alone. */
export function createSecretMask(secrets: readonly string[]): SecretMask | null {
  const needles = needlesOf(secrets).map((text) => Buffer.from(text));
  if (needles.length === 0) return null;
  const longestBytes = Math.max(...needles.map((needle) => needle.length));
  return {
    longestBytes,
    find: (bytes) => joined(needles.flatMap((needle) => placesOf(needle, bytes))),
    unfinishedFrom: (bytes) => Math.min(...needles.map((needle) => unfinishedFrom(needle, bytes))),
  };
}

/** A text in which every secret is masked, for messages and log lines. */
export function redactText(text: string, secrets: readonly string[]): string {
  let redacted = text;
  for (const needle of needlesOf(secrets)) redacted = redacted.replaceAll(needle, () => '*'.repeat(needle.length));
  return redacted;
}

/**
 * What is looked for, longest first: every line of a secret by itself, for output is cut at lines, and each also as it
 * reads within JSON, for most providers print that.
 */
function needlesOf(secrets: readonly string[]): string[] {
  const lines = secrets.flatMap((secret) => secret.split(/[\r\n]+/)).map((line) => line.trim());
  const needles = lines.flatMap((line) => [line, JSON.stringify(line).slice(1, -1)]);
  const long = needles.filter((needle) => Buffer.byteLength(needle) >= hostLimits.secretBytes);
  return [...new Set(long)].toSorted((a, b) => b.length - a.length).slice(0, hostLimits.secrets);
}

function placesOf(needle: Buffer, bytes: Buffer): MaskedPlace[] {
  const places: MaskedPlace[] = [];
  for (let at = bytes.indexOf(needle); at !== -1; at = bytes.indexOf(needle, at + 1)) {
    const last = places.at(-1);
    // A secret that repeats itself may stand in its own echo many times over: that is one place.
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
