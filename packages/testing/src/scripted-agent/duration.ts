const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;

/** Parses a duration such as `500ms`, `2s`, `1.5m` or `1h` into milliseconds, or undefined. */
export function parseDuration(text: string): number | undefined {
  const match = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h)$/.exec(text);
  if (match === null) return undefined;
  return Math.round(Number(match[1]) * unitMs[match[2] as keyof typeof unitMs]);
}
