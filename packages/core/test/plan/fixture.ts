import type { PlanFacts } from '@pawl/core/plan/plan-reading';
import type { Initiative, Phase, PlanContent } from '@pawl/schema/plan/plan';
import type { Task } from '@pawl/schema/record';
import { noBudget, noInitiative } from '@pawl/schema/record';

/** An id of 22 characters that starts with a word. */
export const idOf = (word: string) => word.padEnd(22, '0');

export function aTask(name: string, given: Partial<Task> = {}): Task {
  return {
    id: idOf(name),
    projectId: idOf('project'),
    phase: '',
    name,
    description: '',
    dependsOn: [],
    createdBy: null,
    createdAt: 1,
    summary: null,
    completedAt: null,
    finishedAt: null,
    blockedReason: null,
    crashes: 0,
    agentId: null,
    ...noInitiative,
    initiativeId: idOf('plan'),
    ...given,
  };
}

export function aPhase(name: string, given: Partial<Phase> = {}): Phase {
  return {
    id: idOf(name),
    initiativeId: idOf('plan'),
    name,
    text: '',
    files: [],
    dependsOn: [],
    isIntegration: false,
    approvedAt: null,
    ...given,
  };
}

/** A plan that was approved and launched. */
export function anInitiative(given: Partial<Initiative> = {}): Initiative {
  return {
    id: idOf('plan'),
    projectId: idOf('project'),
    name: 'cancel orders',
    mode: 'auto',
    budget: noBudget,
    createdBy: null,
    createdAt: 1,
    approvedVersion: 1,
    approvedAt: 2,
    launch: null,
    launchedAt: 3,
    pausedAt: null,
    archivedAt: null,
    ...given,
  };
}

export function aContent(given: Partial<PlanContent> = {}): PlanContent {
  return { pages: [], decisions: [], phases: [], tasks: [], ...given };
}

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
    ...given,
  };
}
