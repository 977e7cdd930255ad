import type { Budget, Usage } from '@pawl/schema/record';

/** What has been used of a budget. */
export type Spending = { usage: Usage; minutes: number };

/**
 * Says which part of a budget is used up, or null. Tokens are those that were sent and those that were answered; what came
 * from the provider's cache counts as sent, since a subscription's cost is not known in money.
 */
export function breachOf(budget: Budget, { usage, minutes }: Spending): string | null {
  const spent: [keyof Budget, number, string][] = [
    ['tokens', usage.inputTokens + usage.cachedTokens + usage.outputTokens, 'tokens'],
    ['turns', usage.turns, 'turns'],
    ['minutes', minutes, 'minutes'],
    ['usd', usage.costUsd, 'US dollars'],
  ];
  for (const [part, used, unit] of spent) {
    const limit = budget[part];
    if (limit !== null && used >= limit) return `${readable(used)} of ${readable(limit)} ${unit}`;
  }
  return null;
}

/** Whether a budget limits anything. */
export function isLimited(budget: Budget): boolean {
  return Object.values(budget).some((limit) => limit !== null);
}

function readable(value: number): string {
  return String(Math.round(value * 100) / 100);
}
