import type { Limits } from '@pawl/core/budget';
import { budgetInForce, tighterBudget } from '@pawl/core/budget';
import type { ProviderPreset } from '@pawl/core/port/provider';
import { PawlError } from '@pawl/schema/error';
import type { Agent, Budget } from '@pawl/schema/record';
import type { Workshop } from '../workshop.ts';

/** Refuses a budget in money for a provider that does not report its cost: nothing would ever stop at it. */
export function refuseUncountable(preset: ProviderPreset | null, budget: Limits | undefined): void {
  if (preset === null || (budget?.usd ?? null) === null || preset.reportsCost === true) return;
  throw new PawlError(
    'invalid_input',
    `${preset.name} does not tell what it costs, so a budget in money would not hold.`,
    { hint: 'Give one in tokens, turns or minutes.' },
  );
}

/** The budget of an agent's child: no more than the agent may use itself. */
export function childBudget({ choices }: Workshop, parent: Agent, given: Limits = {}): Budget {
  return tighterBudget(budgetInForce(parent.budget, choices.budgets.agent), given);
}
