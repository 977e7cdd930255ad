import type { Initiative, Phase, PlanContent } from '@pawl/schema/plan/plan';
import type { Task } from '@pawl/schema/record';
import { noBudget, noInitiative } from '@pawl/schema/record';

/** An id of 22 characters that starts with a word. */
export const wordId = (word: string) => word.padEnd(22, '0');

export function aTask(name: string, given: Partial<Task> = {}): Task {
  return {
    id: wordId(name),
    projectId: wordId('project'),
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
    initiativeId: wordId('plan'),
    ...given,
  };
}

export function aPhase(name: string, given: Partial<Phase> = {}): Phase {
  return {
    id: wordId(name),
    initiativeId: wordId('plan'),
    name,
    text: '',
    files: [],
    dependsOn: [],
    isIntegration: false,
    approvedAt: null,
    reviewed: null,
    ...given,
  };
}

/** A plan that was approved and launched. */
export function anInitiative(given: Partial<Initiative> = {}): Initiative {
  return {
    id: wordId('plan'),
    projectId: wordId('project'),
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
    branch: null,
    ...given,
  };
}

export function aContent(given: Partial<PlanContent> = {}): PlanContent {
  return { pages: [], decisions: [], phases: [], tasks: [], ...given };
}
