/** Tokens by kind: `input` without those that came from a cache, which are `cached`. */
export type TokenCount = { input: number; cached: number; output: number };

export const noTokens: TokenCount = { input: 0, cached: 0, output: 0 };

export function addCounts(a: TokenCount, b: TokenCount): TokenCount {
  return { input: a.input + b.input, cached: a.cached + b.cached, output: a.output + b.output };
}

/** All tokens, as budgets count them. */
export function tokensIn({ input, cached, output }: TokenCount): number {
  return input + cached + output;
}
