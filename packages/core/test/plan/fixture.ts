import type { PlanFacts } from '@pawl/core/plan/plan-reading';
import type { PlanContent } from '@pawl/schema/plan/plan';
import { aContent, anInitiative, wordId as idOf } from '@pawl/testing/plan-records';

/** The facts of a plan that may run, unless `given` says otherwise. */
export function someFacts(content: Partial<PlanContent>, given: Partial<PlanFacts> = {}): PlanFacts {
  const whole = aContent(content);
  return {
    initiative: anInitiative(),
    content: whole,
    hash: 'h1',
    approved: {
      initiativeId: idOf('plan'),
      number: 1,
      hash: 'h1',
      taskIds: whole.tasks.map(({ id }) => id),
      createdAt: 2,
      createdBy: 'person',
    },
    outside: new Map(),
    breach: null,
    branch: null,
    ...given,
  };
}
