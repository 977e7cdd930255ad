import type { Usage } from '@pawl/schema/record';
import { noUsage } from '@pawl/schema/record';
import type { StreamEvent } from '@pawl/schema/stream-event';

/** What a session has used, and what its provider last said about the whole conversation. */
export type UsageState = { usage: Usage; reported: Usage | null };

const fields = Object.keys(noUsage) as (keyof Usage)[];

/**
 * A session's usage after one more report. Single calls are added up, until the CLI gives a sum of its own: for this process,
 * or for the whole conversation, from which `before` (what was reported when the session took it up) is taken off again. A
 * report says nothing about a number that is null in it.
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

/** What a usage cost: money where the provider told it, and tokens. A provider that tells nothing reports zeros. */
export function costOf({ costUsd, inputTokens, outputTokens }: Usage): { usd: number | null; tokens: number | null } {
  return { usd: costUsd > 0 ? costUsd : null, tokens: inputTokens + outputTokens || null };
}

/** The sum of several sessions' usage. */
export function totalUsage(usages: Usage[]): Usage {
  const total = { ...noUsage };
  for (const usage of usages) for (const field of fields) total[field] += usage[field];
  return total;
}
