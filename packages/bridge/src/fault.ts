import type { TurnEnd } from './stream-writer.ts';

/** Error words with their HTTP status. The first match counts. */
const patterns: [RegExp, number][] = [
  [/\b429\b|hit your .{0,40}limit|usage.?limit|rate.?limit|quota|too many requests|credit balance is too low/i, 429],
  [/\b529\b|\b503\b|overloaded|at capacity|unavailable/i, 529],
  [/\b401\b|\b403\b|unauthori[sz]ed|authentication|invalid api key|not logged in/i, 401],
];

/** The HTTP status that an error's words indicate, or null. */
export function statusInWords(text: string): number | null {
  return patterns.find(([pattern]) => pattern.test(text))?.[1] ?? null;
}

/** A failed turn, with its status if known or indicated by its words. */
export function failed(text: string, status: number | null = statusInWords(text)): TurnEnd {
  return { kind: 'failed', text: text === '' ? 'The agent reported an error without a message.' : text, status };
}
