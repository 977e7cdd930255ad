import type { Usage } from '@pawl/schema/record';
import { noUsage } from '@pawl/schema/record';
import type { StreamEvent } from '@pawl/schema/stream-event';

/**
 * A session's usage after one more report. A CLI that reports per process gives the session's own numbers; one that
 * reports sums over the conversation has what earlier sessions used taken off again.
 */
export function usageAfter(
  report: Extract<StreamEvent, { type: 'usage' }>,
  scope: 'session' | 'conversation',
  earlier: Usage = noUsage,
): Usage {
  const less = scope === 'conversation' ? earlier : noUsage;
  return {
    inputTokens: Math.max(0, report.inputTokens - less.inputTokens),
    outputTokens: Math.max(0, report.outputTokens - less.outputTokens),
    cachedTokens: Math.max(0, report.cachedTokens - less.cachedTokens),
    costUsd: Math.max(0, report.costUsd - less.costUsd),
    turns: Math.max(0, report.turns - less.turns),
  };
}

/** The sum of several sessions' usage. */
export function totalUsage(usages: Usage[]): Usage {
  return usages.reduce(
    (sum, usage) => ({
      inputTokens: sum.inputTokens + usage.inputTokens,
      outputTokens: sum.outputTokens + usage.outputTokens,
      cachedTokens: sum.cachedTokens + usage.cachedTokens,
      costUsd: sum.costUsd + usage.costUsd,
      turns: sum.turns + usage.turns,
    }),
    noUsage,
  );
}
