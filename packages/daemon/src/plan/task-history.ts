import { breachInWords } from '@pawl/core/accounts/budget';
import { firstLine } from '@pawl/core/shorten';
import type { TaskHistory } from '@pawl/protocol/plan/view';
import type { Change } from '@pawl/schema/change';
import { limits } from '@pawl/schema/limit';
import type { Agent, Project } from '@pawl/schema/record';
import type { AgentFacts } from '@pawl/schema/agent/agent-facts';
import { agentsThatRan, lastChangeOf } from '@pawl/store/changes/change-search';
import { listProjects } from '@pawl/store/projects/projects';
import { assignmentsOf, runBefore, runsOf } from '@pawl/store/sessions/runs';
import type { Database } from '@pawl/store/tables';
import type { Platform } from '../platform/platform.ts';

type Past = TaskHistory['tasks'][number];

/** The history of agents' assignments. Reads rows that are never deleted, so clean-up removes nothing. */
export async function taskHistory(
  platform: Platform,
  { project, limit = limits.usualHistory }: { project: Project | null; limit?: number | undefined },
): Promise<Past[]> {
  const { db } = platform.store;
  const projects = new Map((await listProjects(db)).map(({ id, name }) => [id, { id, name }]));
  const tasks: Past[] = [];
  for (const facts of await agentsThatRan(db, { limit, ...(project === null ? {} : { projectId: project.id }) })) {
    const { agent } = facts;
    const home = projects.get(agent.projectId ?? '');
    if (home === undefined) continue;
    for (const { assignment, startedAt, ...part } of await worksOf(db, facts)) {
      const author = { agentId: agent.id, branch: agent.branch ?? '' };
      const change = await lastChangeOf(db, home.id, author, part.span);
      tasks.push({
        agent: { id: agent.id, alias: agent.alias },
        project: home,
        task: firstLine(assignment, limits.taskNameCharacters),
        branch: agent.branch ?? '',
        changeId: change?.id ?? null,
        startedAt,
        ...outcomeOf(part.facts, change),
      });
    }
  }
  return tasks.slice(0, limit);
}

/** One piece of work: its assignment, the agent when it ended, and the time span in which its changes were opened. */
type Work = { assignment: string; startedAt: number; facts: Facts; span: { from?: number; before?: number } };
type Facts = Pick<AgentFacts, 'agent' | 'run'>;

/** All assignments of an agent, newest first. Its end and its completion belong to the newest. */
async function worksOf(db: Database, facts: AgentFacts): Promise<Work[]> {
  const { agent } = facts;
  const given = await assignmentsOf(db, agent.id);
  if (given.length === 0) {
    const [first] = await runsOf(db, agent.id);
    return first === undefined ? [] : [{ assignment: first.task, startedAt: first.startedAt, facts, span: {} }];
  }
  const works: Work[] = [];
  for (const [index, { assignment, startedAt }] of given.entries()) {
    const next = given[index + 1];
    const run = next === undefined ? facts.run : await runBefore(db, agent.id, next.ordinal);
    // A change that it took over is older than its first run.
    const from = index === 0 ? {} : { from: startedAt };
    const span = { ...from, ...(next === undefined ? {} : { before: next.startedAt }) };
    const then = next === undefined ? agent : { ...agent, completion: null, endedAt: null };
    works.unshift({ assignment, startedAt, facts: { agent: then, run }, span });
  }
  return works;
}

/** The outcome of a piece of work: by its change if there is one, else by its agent's last run. */
function outcomeOf({ agent, run }: Facts, change: Change | null): Pick<Past, 'state' | 'detail' | 'endedAt'> {
  const said = firstLine(agent.completion?.summary ?? run?.detail ?? '', limits.taskNameCharacters);
  if (change !== null) {
    if (change.mergedAt !== null) return { state: 'merged', detail: change.title, endedAt: change.mergedAt };
    if (change.closedAt === null) return { state: 'open', detail: change.title, endedAt: null };
    return {
      state: 'closed',
      detail: firstLine(change.closeReason ?? '', limits.taskNameCharacters),
      endedAt: change.closedAt,
    };
  }
  const errandEnd = agent.mode === 'errand' ? endOfErrand(agent) : null;
  if (errandEnd !== null) return { ...errandEnd, detail: said };
  const failure = agent.completion?.failure ?? (run?.outcome === 'failed' ? (run.detail ?? '') : null);
  const endedAt = agent.completion?.at ?? run?.endedAt ?? agent.endedAt;
  if (agent.completion === null && run?.cause?.reason === 'budget') {
    return { state: 'over-budget', detail: breachInWords(run.cause), endedAt };
  }
  if (failure !== null) return { state: 'failed', detail: firstLine(failure, limits.taskNameCharacters), endedAt };
  const isDone = agent.completion !== null || (run?.outcome === 'completed' && run.questions === null);
  if (isDone) return { state: 'no-pr', detail: said, endedAt };
  return { state: 'unknown', detail: said, endedAt };
}

/** An errand is merged or abandoned by a person, without a change. */
function endOfErrand({ endedAt, endReason }: Agent): Pick<Past, 'state' | 'endedAt'> | null {
  if (endedAt === null) return null;
  if (endReason === 'merged') return { state: 'merged', endedAt };
  return endReason === 'abandoned' ? { state: 'closed', endedAt } : null;
}
