import type { Limits } from '@pawl/core/accounts/budget';
import { budgetInForce, tighterBudget } from '@pawl/core/accounts/budget';
import type { ProviderPreset } from '@pawl/core/port/provider';
import { capabilitiesOf } from '@pawl/providers/capability';
import { PawlError } from '@pawl/schema/error';
import type { Agent, Budget } from '@pawl/schema/record';
import type { Choices, Platform } from './platform.ts';

/**
 * Refuses a budget in money or tokens if the provider does not report them, since it would never take effect. The proxy
 * counts the tokens of calls with an API key.
 */
export function refuseUncountable(
  preset: ProviderPreset | null,
  budget: Limits | undefined,
  { proxy }: Pick<Choices, 'proxy'>,
): void {
  if (preset === null) return;
  const { reportsCost, reportsTokens: reports } = capabilitiesOf(preset);
  const reportsTokens = reports || (proxy && (preset.account?.key ?? null) !== null);
  const others = ['turns', 'minutes'];
  if ((budget?.usd ?? null) !== null && !reportsCost)
    throw uncountable(preset, 'its cost', 'money', reportsTokens ? ['tokens', ...others] : others);
  if ((budget?.tokens ?? null) !== null && !reportsTokens) throw uncountable(preset, 'token usage', 'tokens', others);
}

function uncountable({ name }: ProviderPreset, told: string, unit: string, others: string[]): PawlError {
  return new PawlError(
    'invalid_input',
    `${name} does not report ${told}, so a budget in ${unit} would have no effect.`,
    {
      hint: `Set one in ${others.slice(0, -1).join(', ')} or ${others.at(-1)}.`,
    },
  );
}

/** The budget of a child: never more than its parent's. */
export function childBudget({ choices }: Platform, parent: Agent, given: Limits = {}): Budget {
  return tighterBudget(budgetInForce(parent.budget, choices.budgets.agent), given);
}
