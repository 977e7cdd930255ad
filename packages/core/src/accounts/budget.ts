import type { Budget, RunCause, Usage } from '@pawl/schema/record';

/** A used-up budget: whose, which part, and whether usage went beyond the limit or only reached it. */
export type Breach = { of: BudgetCause['of']; detail: string; passed: boolean };
/** Budget limits as given in a request; null removes a limit. */
export type Limits = { [Part in keyof Budget]?: Budget[Part] | undefined };

type BudgetCause = Extract<RunCause, { reason: 'budget' }>;

const budgetParts = ['tokens', 'turns', 'minutes', 'usd'] as const satisfies (keyof Budget)[];
const unitOf: Record<keyof Budget, string> = {
  tokens: 'tokens',
  turns: 'turns',
  minutes: 'minutes',
  usd: 'US dollars',
};

export type Spending = { usage: Usage; minutes: number };

/**
 * Finds the used-up part of a budget, or null; an exceeded part wins over one just reached. Tokens are input plus
 * output. Cached input counts too, since the money cost of a subscription is unknown.
 */
export function breachOf(budget: Budget, { usage, minutes }: Spending): Omit<Breach, 'of'> | null {
  let reached: Omit<Breach, 'of'> | null = null;
  const spent: Record<keyof Budget, number> = {
    tokens: tokensOf(usage),
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

/** The tokens of a usage as budgets count them. */
export function tokensOf({ inputTokens, cachedTokens, outputTokens }: Usage): number {
  return inputTokens + cachedTokens + outputTokens;
}

/** An agent's own limits, falling back to the home's defaults. */
export function budgetInForce(own: Budget, byDefault: Budget): Budget {
  return mapBudget((part) => own[part] ?? byDefault[part]);
}

/** Overrides some limits of a budget; null removes a limit. */
export function withLimits(budget: Budget, given: Limits): Budget {
  return mapBudget((part) => (given[part] === undefined ? budget[part] : given[part]));
}

/** Takes the smaller of each limit. */
export function tighterBudget(own: Budget, given: Limits): Budget {
  return mapBudget((part) => {
    const limits = [own[part], given[part] ?? null].filter((limit) => limit !== null);
    return limits.length === 0 ? null : Math.min(...limits);
  });
}

function mapBudget(value: (part: keyof Budget) => number | null): Budget {
  return { tokens: value('tokens'), turns: value('turns'), minutes: value('minutes'), usd: value('usd') };
}

/** Describes a used-up budget, as the end of a run. */
export function breachInWords({ of, detail }: Pick<Breach, 'of' | 'detail'>): string {
  return `the budget of the ${of} is used up: ${detail}`;
}

/** Says how to continue an agent whose budget is used up. */
export function budgetAdvice(alias: string, of: Breach['of'], detail: string): string {
  const part = budgetParts.find((each) => detail.endsWith(unitOf[each])) ?? 'tokens';
  switch (of) {
    case 'agent':
      return `raise it and continue: pawl resume ${alias} --budget ${part}=N (N counts from its start)`;
    case 'task':
      return `continue with a new turn budget: pawl resume ${alias}; or raise budgets.task in config.yaml`;
    case 'project':
      return 'wait for the next day, or raise budgets.project in config.yaml';
  }
}

export function isLimited(budget: Budget): boolean {
  return Object.values(budget).some((limit) => limit !== null);
}

function readable(value: number): string {
  return String(Math.round(value * 100) / 100);
}
