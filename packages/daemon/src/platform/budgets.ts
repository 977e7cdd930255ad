import type { Limits } from '@pawl/core/accounts/budget';
import { budgetInForce, tighterBudget } from '@pawl/core/accounts/budget';
import type { ProviderPreset } from '@pawl/core/port/provider';
import { capabilitiesOf } from '@pawl/providers/capability';
import { PawlError } from '@pawl/schema/error';
import type { Agent, Budget } from '@pawl/schema/record';
import type { Platform } from './platform.ts';

/** Refuses a budget in money or tokens for a provider that does not report them: nothing would ever stop at it. */
export function refuseUncountable(preset: ProviderPreset | null, budget: Limits | undefined): void {
  if (preset === null) return;
  const { reportsCost, reportsTokens } = capabilitiesOf(preset);
  const others = ['turns', 'minutes'];
  if ((budget?.usd ?? null) !== null && !reportsCost)
    throw uncountable(preset, 'what it costs', 'money', reportsTokens ? ['tokens', ...others] : others);
  if ((budget?.tokens ?? null) !== null && !reportsTokens)
    throw uncountable(preset, 'how many tokens it uses', 'tokens', others);
}

function uncountable({ name }: ProviderPreset, told: string, unit: string, others: string[]): PawlError {
  return new PawlError('invalid_input', `${name} does not tell ${told}, so a budget in ${unit} would not hold.`, {
    hint: `Give one in ${others.slice(0, -1).join(', ')} or ${others.at(-1)}.`,
  });
}

/** The budget of an agent's child: no more than the agent may use itself. */
export function childBudget({ choices }: Platform, parent: Agent, given: Limits = {}): Budget {
  return tighterBudget(budgetInForce(parent.budget, choices.budgets.agent), given);
}
