import type { Breach } from '@pawl/core/accounts/budget';
import { breachInWords, breachOf, budgetAdvice, budgetInForce, isLimited, tokensOf } from '@pawl/core/accounts/budget';
import { totalUsage } from '@pawl/core/accounts/usage';
import { PawlError } from '@pawl/schema/error';
import type { Agent, Budget, Run, Session } from '@pawl/schema/record';
import { sessionsOf, sessionsOfProject } from '@pawl/store/sessions/sessions';
import type { Cache } from '../../platform/caches.ts';
import type { Platform } from '../../platform/platform.ts';

const dayMs = 24 * 60 * 60 * 1000;

/** Finds a used-up budget of an agent, its run or its project (in the last day), the first one passed; or null. */
export async function findBreach(
  platform: Platform,
  agent: Agent,
  run: Pick<Run, 'id' | 'projectId'>,
): Promise<Breach | null> {
  const { budgets } = platform.choices;
  const { db } = platform.store;
  const now = platform.clock();
  const ofAgent = budgetInForce(agent.budget, budgets.agent);
  const breaches: (Breach | null)[] = [];
  if (isLimited(ofAgent) || isLimited(budgets.task)) {
    const sessions = await sessionsOf(db, agent.id);
    const ofRun = sessions.filter((each) => each.runId === run.id);
    breaches.push(breachIn('agent', ofAgent, sessions, now), breachIn('task', budgets.task, ofRun, now));
  }
  // Work for several projects counts for the agent's first one; work without a project for none.
  if (isLimited(budgets.project) && run.projectId !== null)
    breaches.push(breachIn('project', budgets.project, await recentSessions(platform, run.projectId, now), now));
  const found = breaches.filter((breach) => breach !== null);
  return found.find(({ passed }) => passed) ?? found[0] ?? null;
}

/** A project's sessions of the last day, cached briefly, since many agents ask. */
async function recentSessions(platform: Platform, projectId: string, now: number): Promise<Session[]> {
  const known = platform.caches.of(recent);
  const last = known.get(projectId);
  if (last !== undefined && Math.abs(now - last.at) < recentMs) return last.sessions;
  const sessions = await sessionsOfProject(platform.store.db, projectId, now - dayMs);
  known.set(projectId, { at: now, sessions });
  return sessions;
}

const recentMs = 2_000;
const recent: Cache<Map<string, { at: number; sessions: Session[] }>> = { empty: () => new Map() };

/** How many tokens an agent may still use in a run, by all budgets that apply; null without such a limit. */
export async function tokensLeft(
  platform: Platform,
  agent: Agent,
  run: Pick<Run, 'id' | 'projectId'>,
): Promise<number | null> {
  const { budgets } = platform.choices;
  const limits: number[] = [];
  const note = (limit: number | null, sessions: readonly Session[]) => {
    if (limit !== null) limits.push(limit - tokensOf(totalUsage(sessions.map(({ usage }) => usage))));
  };
  const ofAgent = budgetInForce(agent.budget, budgets.agent).tokens;
  if (ofAgent !== null || budgets.task.tokens !== null) {
    const sessions = await sessionsOf(platform.store.db, agent.id);
    note(ofAgent, sessions);
    note(
      budgets.task.tokens,
      sessions.filter(({ runId }) => runId === run.id),
    );
  }
  if (budgets.project.tokens !== null && run.projectId !== null)
    note(budgets.project.tokens, await recentSessions(platform, run.projectId, platform.clock()));
  return limits.length === 0 ? null : Math.max(0, Math.min(...limits));
}

/** Refuses another run of an agent whose budget is used up. */
export async function refuseSpent(platform: Platform, agent: Agent, projectId: string | null): Promise<void> {
  if (!hasBudget(platform, agent)) return;
  // A run that has not started has used nothing of its own budget.
  const breach = await findBreach(platform, agent, { id: '', projectId });
  if (breach === null) return;
  const { alias } = agent;
  throw new PawlError('budget', `${alias} cannot continue: ${breachInWords(breach)}.`, {
    hint: sentence(budgetAdvice(alias, breach.of, breach.detail)),
    details: { of: breach.of, spent: breach.detail },
  });
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** True if an agent's usage must be compared with a budget. */
export function hasBudget(platform: Platform, agent: Agent): boolean {
  const { budgets } = platform.choices;
  return [agent.budget, budgets.agent, budgets.task, budgets.project].some(isLimited);
}

function breachIn(of: Breach['of'], budget: Budget, sessions: Session[], now: number): Breach | null {
  const usage = totalUsage(sessions.map((session) => session.usage));
  const milliseconds = sessions.map(({ startedAt, endedAt }) =>
    startedAt === null ? 0 : (endedAt ?? now) - startedAt,
  );
  const minutes = milliseconds.reduce((sum, each) => sum + Math.max(0, each), 0) / 60_000;
  const breach = breachOf(budget, { usage, minutes });
  return breach === null ? null : { of, ...breach };
}
