import type { ProxyLine } from '@pawl/schema/proxy';
import type { Usage } from '@pawl/schema/record';
import type { StreamEvent } from '@pawl/schema/stream-event';

/** The tokens of a session as the proxy counted them. */
export type ProxiedTokens = Pick<Usage, 'inputTokens' | 'cachedTokens' | 'outputTokens'>;

/** A CLI retries by itself after a shorter wait. */
const longWaitMs = 60_000;
/** So many refusals in a row are a limit, whatever the provider says about its end. */
const refusalsInARow = 3;

/** The larger of both counts: a CLI may report nothing, late, or only some of its calls. */
export function withProxied(usage: Usage, proxied: ProxiedTokens | null): Usage {
  return proxied !== null && sumOf(proxied) > sumOf(usage) ? { ...usage, ...proxied } : usage;
}

export function proxiedTokens({ input, cached, output }: Extract<ProxyLine, { type: 'usage' }>): ProxiedTokens {
  return { inputTokens: input, cachedTokens: cached, outputTokens: output };
}

/** The limit that a refused call stands for; null if the CLI can simply retry. */
export function limitOfRefusal(
  line: Extract<ProxyLine, { type: 'limit' }>,
): Extract<StreamEvent, { type: 'limit' }> | null {
  // An overloaded provider says nothing about the account.
  if (line.status !== 429) return null;
  const isLong = line.until !== null && line.until - line.at >= longWaitMs;
  return isLong || line.inARow >= refusalsInARow ? { type: 'limit', until: line.until } : null;
}

function sumOf({ inputTokens, cachedTokens, outputTokens }: ProxiedTokens): number {
  return inputTokens + cachedTokens + outputTokens;
}
