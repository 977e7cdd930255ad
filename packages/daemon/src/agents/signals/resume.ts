import type { Limits } from '@pawl/core/accounts/budget';
import { withLimits } from '@pawl/core/accounts/budget';
import { refuseAdopted } from '@pawl/core/agents/adopted';
import { assignmentAfter } from '@pawl/core/agents/assignment';
import { isOver } from '@pawl/core/changes/change-life';
import { checkTask } from '@pawl/core/plan/task';
import { runOf } from '@pawl/core/sessions/run';
import { refuseAfterCompletion } from '@pawl/core/supervision/complete';
import { PawlError } from '@pawl/schema/error';
import type { NewEvent } from '@pawl/schema/event';
import { newId } from '@pawl/schema/id';
import type { Agent, Budget, Run } from '@pawl/schema/record';
import type { AgentFacts } from '@pawl/schema/agent/agent-facts';
import { agentView } from '@pawl/store/agents/agent-views';
import { agentById, updateAgent } from '@pawl/store/agents/agents';
import { changesByAgent } from '@pawl/store/changes/changes';
import { appendMessage } from '@pawl/store/sessions/messages';
import { insertRun } from '@pawl/store/sessions/runs';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import { refuseUncountable } from '../../platform/budgets.ts';
import { agentOfRequest, rememberRequest } from '../../platform/idempotency.ts';
import { projectIfAny } from '../../platform/places.ts';
import { refuseSpent } from '../../sessions/reconcile/spending.ts';
import { retakeTask } from '../../tasks/tasks.ts';
import type { RunnerChange } from './other-runner.ts';
import { handOver, otherRunner } from './other-runner.ts';
import type { SignalParts } from './signal-parts.ts';

/** The prompt of an agent that is resumed without one. */
const defaultPrompt = 'Go on with your task.';

export type ResumeOptions = {
  /** An event to store with the new run. */
  told?: NewEvent | null;
  budget?: Limits | undefined;
  /** Another model, provider or account. */
  changes?: RunnerChange;
  /** A person wrote the prompt, so it may be new work. */
  byPerson?: boolean;
  /** The chat thread of the new run; by default that of the last one. */
  sessionId?: string;
};

/** Starts a new run of an idle agent, which continues its conversation. */
export async function resume(
  { platform }: SignalParts,
  agentId: string,
  prompt: string | undefined,
  key: string | undefined,
  { told = null, budget, byPerson = false, sessionId: thread, changes = {} }: ResumeOptions = {},
): Promise<void> {
  const { store } = platform;
  const known = await agentById(store.db, agentId);
  if (known === null) throw new PawlError('agent_not_found', `There is no agent ${agentId}.`);
  refuseResume(known);
  const project = await projectIfAny(store, known);
  // Read it now: no run may start with a deleted definition.
  const definition = await platform.definitions.find(project, known.definition);
  const runner = await otherRunner(platform, known, definition, changes);
  refuseUncountable(platform.providers.find(runner?.provider ?? known.provider), budget, platform.choices);
  const isRepeated = (await agentOfRequest(store.db, key)) !== null;
  if (!isRepeated)
    await refuseSpent(platform, { ...known, budget: withLimits(known.budget, budget ?? {}) }, known.projectId);
  await store.write(async (tx) => {
    if ((await agentOfRequest(tx.db, key)) !== null) return;
    const facts = await agentView(tx.db, agentId);
    if (facts === null) throw new PawlError('agent_not_found', `There is no agent ${agentId}.`);
    refuseResume(facts.agent);
    const task = taskToResume(facts.agent, facts.run, prompt);
    const sessionId = thread ?? facts.run?.sessionId;
    const begun = runOf(facts.agent, { id: newId(), project, task, definition, sessionId, now: tx.now });
    await updateAgent(tx, agentId, { stopRequestedAt: null });
    if (runner !== null) await handOver(tx, facts, runner);
    if (byPerson && prompt !== undefined) await assign(tx, facts, prompt);
    if (budget !== undefined) await setBudget(tx, facts.agent, withLimits(facts.agent.budget, budget));
    await insertRun(tx, begun.run);
    await retakeTask(tx, facts.agent);
    await appendMessage(tx, begun.message);
    tx.emit(begun.event);
    if (told !== null) tx.emit(told);
    await rememberRequest(tx, key, agentId);
  });
}

/** Makes a person's prompt the new assignment of an agent whose work is finished. */
async function assign(tx: WriteTransaction, { agent, run }: AgentFacts, prompt: string): Promise<void> {
  const [latest] = await changesByAgent(tx.db, agent.id);
  const hasOpenChange = latest !== undefined && !isOver(latest);
  const assignment = assignmentAfter(agent, run, { prompt, hasOpenChange });
  if (assignment !== agent.assignment) await updateAgent(tx, agent.id, { assignment });
}

async function setBudget(tx: WriteTransaction, agent: Agent, budget: Budget): Promise<void> {
  await updateAgent(tx, agent.id, { budget });
  tx.emit({ type: 'budget.changed', projectId: agent.projectId, agentId: agent.id, data: { budget } });
}

/** Throws for agents that are never resumed. */
export function refuseResume(agent: Agent): void {
  if (agent.parentId === null) throw new PawlError('conflict', 'Agent 0 is you; it runs nothing.');
  if (agent.kind === 'subagent') {
    throw new PawlError('invalid_input', `${agent.alias} is a subagent: it works for an agent, not for a person.`);
  }
  refuseAfterCompletion(agent);
  refuseAdopted(agent);
  if (agent.endedAt === null) return;
  throw new PawlError('conflict', `The agent ${agent.alias} is dead.`, { hint: 'Start another one: pawl work "…"' });
}

function taskToResume(agent: Agent, run: Run | null, prompt: string | undefined): string {
  if (run !== null && run.outcome === null) {
    throw new PawlError('conflict', `${agent.alias} is already working.`, {
      hint: 'Wait until it is done, or stop it first.',
    });
  }
  if (prompt === undefined && run === null) {
    throw new PawlError('invalid_input', `${agent.alias} has had no task yet.`, {
      hint: `Give it a task: pawl resume ${agent.alias} "…"`,
    });
  }
  const task = prompt ?? defaultPrompt;
  checkTask(task);
  return task;
}
