import { breachOf, isLimited } from '@pawl/core/budget';
import { totalUsage } from '@pawl/core/usage';
import type { Agent, Budget, Run, Session } from '@pawl/schema/record';
import { sessionsOf, sessionsOfProject } from '@pawl/store/sessions';
import type { Workshop } from '../workshop.ts';

/** A budget that is used up: whose it is, and which part. */
export type Breach = { of: 'agent' | 'task' | 'project'; detail: string };

const dayMs = 24 * 60 * 60 * 1000;

/** Finds the first budget of an agent, its run or its project (in the last day) that is used up; null when none is. */
export async function findBreach(shop: Workshop, agent: Agent, run: Run): Promise<Breach | null> {
  const { budgets } = shop.choices;
  const { db } = shop.store;
  const now = shop.clock();
  const ofAgent = [agent.budget, budgets.agent].filter(isLimited);
  if (ofAgent.length > 0 || isLimited(budgets.task)) {
    const sessions = await sessionsOf(db, agent.id);
    const breach =
      breachIn('agent', ofAgent, sessions, now) ??
      breachIn(
        'task',
        [budgets.task],
        sessions.filter((each) => each.runId === run.id),
        now,
      );
    if (breach !== null) return breach;
  }
  // Work for several projects counts for the agent's first one; work without a project for none.
  if (!isLimited(budgets.project) || run.projectId === null) return null;
  return breachIn('project', [budgets.project], await recentSessions(shop, run.projectId, now), now);
}

/** A project's sessions of the last day, read once in a while however many agents ask. */
async function recentSessions(shop: Workshop, projectId: string, now: number): Promise<Session[]> {
  const known = recent.get(shop) ?? new Map<string, { at: number; sessions: Session[] }>();
  recent.set(shop, known);
  const last = known.get(projectId);
  if (last !== undefined && Math.abs(now - last.at) < recentMs) return last.sessions;
  const sessions = await sessionsOfProject(shop.store.db, projectId, now - dayMs);
  known.set(projectId, { at: now, sessions });
  return sessions;
}

const recentMs = 2_000;
const recent = new WeakMap<Workshop, Map<string, { at: number; sessions: Session[] }>>();

/** Whether anything an agent uses has to be compared with a budget. */
export function hasBudget(shop: Workshop, agent: Agent): boolean {
  const { budgets } = shop.choices;
  return [agent.budget, budgets.agent, budgets.task, budgets.project].some(isLimited);
}

/** Tells that a budget is used up. */
export async function noteBreach(shop: Workshop, agent: Agent, breach: Breach): Promise<void> {
  await shop.store.write(async (tx) => {
    tx.emit({ type: 'budget.exceeded', projectId: agent.projectId, agentId: agent.id, data: breach });
  });
}

/** The words in which a run ends whose budget is used up. */
export function breachInWords({ of, detail }: Breach): string {
  return `the budget of the ${of} is used up: ${detail}`;
}

function breachIn(of: Breach['of'], budgets: Budget[], sessions: Session[], now: number): Breach | null {
  const usage = totalUsage(sessions.map((session) => session.usage));
  const milliseconds = sessions.map(({ startedAt, endedAt }) =>
    startedAt === null ? 0 : (endedAt ?? now) - startedAt,
  );
  const minutes = milliseconds.reduce((sum, each) => sum + Math.max(0, each), 0) / 60_000;
  for (const budget of budgets) {
    const detail = breachOf(budget, { usage, minutes });
    if (detail !== null) return { of, detail };
  }
  return null;
}
