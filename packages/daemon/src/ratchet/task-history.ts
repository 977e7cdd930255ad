import { breachInWords } from '@pawl/core/budget';
import { firstLine } from '@pawl/core/shorten';
import type { TaskHistory } from '@pawl/protocol/view/change';
import type { Change } from '@pawl/schema/change';
import { limits } from '@pawl/schema/limit';
import type { Agent, Project } from '@pawl/schema/record';
import type { AgentView } from '@pawl/store/agent-views';
import { agentsThatRan, lastChangeOf } from '@pawl/store/change-search';
import { listProjects } from '@pawl/store/projects';
import { runsOf } from '@pawl/store/runs';
import type { Workshop } from '../workshop.ts';

type Past = TaskHistory['tasks'][number];

/** What became of what agents were given to do. It is read from rows that are never deleted, so clean-up takes nothing away. */
export async function taskHistory(
  shop: Workshop,
  { project, limit = limits.usualHistory }: { project: Project | null; limit?: number | undefined },
): Promise<Past[]> {
  const { db } = shop.store;
  const projects = new Map((await listProjects(db)).map(({ id, name }) => [id, { id, name }]));
  const tasks: Past[] = [];
  for (const facts of await agentsThatRan(db, { limit, ...(project === null ? {} : { projectId: project.id }) })) {
    const { agent } = facts;
    const home = projects.get(agent.projectId ?? '');
    if (home === undefined) continue;
    const [first] = await runsOf(db, agent.id);
    if (first === undefined) continue;
    const change = await lastChangeOf(db, home.id, { agentId: agent.id, branch: agent.branch ?? '' });
    tasks.push({
      agent: { id: agent.id, alias: agent.alias },
      project: home,
      task: firstLine(agent.assignment ?? first.task, limits.taskNameCharacters),
      branch: agent.branch ?? '',
      changeId: change?.id ?? null,
      startedAt: first.startedAt,
      ...outcomeOf(facts, change),
    });
  }
  return tasks;
}

/** How a piece of work came out: by its change where there is one, else by what its agent's last run came to. */
function outcomeOf({ agent, run }: AgentView, change: Change | null): Pick<Past, 'state' | 'detail' | 'endedAt'> {
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
