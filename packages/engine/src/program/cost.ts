import type { TokenUsage } from '@pawl/wire/claude-line';

/** Dollars for a million tokens. */
export type Price = { input: number; output: number; cached: number };

/** Dollars for some tokens; null without a price. Writing to a cache costs as much as reading the text. */
export function costOf(tokens: TokenUsage, price: Price | null): number | null {
  if (price === null) return null;
  const input = (tokens.input_tokens + tokens.cache_creation_input_tokens) * price.input;
  const cached = tokens.cache_read_input_tokens * price.cached;
  return Number(((input + cached + tokens.output_tokens * price.output) / 1_000_000).toFixed(9));
}
