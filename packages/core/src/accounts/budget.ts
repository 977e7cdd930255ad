import type { Budget, RunCause, Usage } from '@pawl/schema/record';

/** A budget that is used up: whose it is, which part, and whether more than it allows was used. */
export type Breach = { of: BudgetCause['of']; detail: string; passed: boolean };
/** Some limits of a budget, as a person or an agent gives them. */
export type Limits = { [Part in keyof Budget]?: Budget[Part] | undefined };

type BudgetCause = Extract<RunCause, { reason: 'budget' }>;

const budgetParts = ['tokens', 'turns', 'minutes', 'usd'] as const satisfies (keyof Budget)[];
const unitOf: Record<keyof Budget, string> = {
  tokens: 'tokens',
  turns: 'turns',
  minutes: 'minutes',
  usd: 'US dollars',
};

/** What has been used of a budget. */
export type Spending = { usage: Usage; minutes: number };

/**
 * Finds the part of a budget that is used up, or null; one that was passed before one that was only reached. Tokens are those that were sent and those that were answered; what came
 * from the provider's cache counts as sent, since a subscription's cost is not known in money.
 */
export function breachOf(budget: Budget, { usage, minutes }: Spending): Omit<Breach, 'of'> | null {
  let reached: Omit<Breach, 'of'> | null = null;
  const spent: Record<keyof Budget, number> = {
    tokens: usage.inputTokens + usage.cachedTokens + usage.outputTokens,
    turns: usage.turns,
    minutes,
    usd: usage.costUsd,
  };
  for (const part of budgetParts) {
    const [used, limit, unit] = [spent[part], budget[part], unitOf[part]];
    if (limit === null || used < limit) continue;
    const breach = { detail: `${readable(used)} of ${readable(limit)} ${unit}`, passed: used > limit };
    if (breach.passed) return breach;
    reached ??= breach;
  }
  return reached;
}

/** The limits that hold for an agent: its own, and for what it has none of, the home's default. */
export function budgetInForce(own: Budget, byDefault: Budget): Budget {
  return mapBudget((part) => own[part] ?? byDefault[part]);
}

/** A budget with some of its limits set anew; null takes a limit away. */
export function withLimits(budget: Budget, given: Limits): Budget {
  return mapBudget((part) => (given[part] === undefined ? budget[part] : given[part]));
}

/** The smaller of each limit. */
export function tighterBudget(own: Budget, given: Limits): Budget {
  return mapBudget((part) => {
    const limits = [own[part], given[part] ?? null].filter((limit) => limit !== null);
    return limits.length === 0 ? null : Math.min(...limits);
  });
}

function mapBudget(value: (part: keyof Budget) => number | null): Budget {
  return { tokens: value('tokens'), turns: value('turns'), minutes: value('minutes'), usd: value('usd') };
}

/** A passed budget in words, as a run ends with them. */
export function breachInWords({ of, detail }: Pick<Breach, 'of' | 'detail'>): string {
  return `the budget of the ${of} is used up: ${detail}`;
}

/** What a person can do about an agent whose budget is used up. */
export function budgetAdvice(alias: string, of: Breach['of'], detail: string): string {
  const part = budgetParts.find((each) => detail.endsWith(unitOf[each])) ?? 'tokens';
  switch (of) {
    case 'agent':
      return `raise it and continue: pawl resume ${alias} --budget ${part}=N (N counts from its beginning)`;
    case 'task':
      return `continue with a new turn budget: pawl resume ${alias}; or raise budgets.task in config.yaml`;
    case 'project':
      return 'wait for the next day, or raise budgets.project in config.yaml';
  }
}

/** Whether a budget limits anything. */
export function isLimited(budget: Budget): boolean {
  return Object.values(budget).some((limit) => limit !== null);
}

function readable(value: number): string {
  return String(Math.round(value * 100) / 100);
}
