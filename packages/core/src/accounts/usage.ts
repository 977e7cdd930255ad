import type { Usage } from '@pawl/schema/record';
import { noUsage } from '@pawl/schema/record';
import type { StreamEvent } from '@pawl/schema/stream-event';

/** A session's usage, and the provider's last report on the whole conversation. */
export type UsageState = { usage: Usage; reported: Usage | null };

const fields = Object.keys(noUsage) as (keyof Usage)[];

/**
 * Adds one report to a session's usage. Per-call numbers add up until the CLI reports a total: for this process, or for
 * the whole conversation, minus `before` (the total when this session resumed it). A null field means "not reported".
 */
export function usageAfter(
  state: UsageState,
  report: Extract<StreamEvent, { type: 'usage' }>,
  before: Usage | null = null,
): UsageState {
  const usage = { ...state.usage };
  const reported = { ...(state.reported ?? before ?? noUsage) };
  for (const field of fields) {
    const value = report[field];
    if (value === null) continue;
    if (report.scope === 'conversation') reported[field] = value;
    const earlier = { call: -usage[field], session: 0, conversation: before?.[field] ?? 0 }[report.scope];
    usage[field] = Math.max(0, value - earlier);
  }
  return { usage, reported: report.scope === 'conversation' ? reported : state.reported };
}

/** The cost of a usage: money if the provider reported it, and tokens. Zero means the provider reported nothing. */
export function costOf({ costUsd, inputTokens, outputTokens }: Usage): { usd: number | null; tokens: number | null } {
  return { usd: costUsd > 0 ? costUsd : null, tokens: inputTokens + outputTokens || null };
}

/** Sums the usage of several sessions. */
export function totalUsage(usages: Usage[]): Usage {
  const total = { ...noUsage };
  for (const usage of usages) for (const field of fields) total[field] += usage[field];
  return total;
}
