import type { Asked } from '@pawl/core/questions/question';
import { chooseAsked } from '@pawl/core/questions/question';
import { resolveAgent } from '@pawl/core/agents/resolve';
import { PawlError } from '@pawl/schema/error';
import type { Agent } from '@pawl/schema/record';
import { agentView } from '@pawl/store/agents/agent-views';
import { findAgents } from '@pawl/store/agents/agents';
import { agentsInPhase } from '@pawl/store/mail/questions';
import type { Database } from '@pawl/store/tables';
import { agentsOfTask } from '@pawl/store/projects/tasks';
import { firstDefinition, isResumable } from '../mail/resumable.ts';
import type { DefinitionPlatform } from '../definitions/definition-platform.ts';
import { rootAgent } from '../platform/root-agent.ts';
import { findTask } from '../tasks/tasks.ts';

/** The recipient of a question: an agent, the agent on a task or in a phase, or the person. */
export type Target = { agent: string } | { task: string } | { phase: string } | { person: true };

export type FoundTarget = { asked: Asked; taskId: string | null; phase: string | null };

/** Resolves the recipient on the facts of one transaction. Throws if there is none. */
export async function findTarget(
  platform: DefinitionPlatform,
  db: Database,
  from: Agent,
  target: Target,
): Promise<FoundTarget> {
  const direct = { taskId: null, phase: null };
  if ('person' in target) return { asked: await askedFacts(platform, db, await rootAgent(db)), ...direct };
  if ('agent' in target) {
    const agent = resolveAgent(target.agent, await findAgents(db, target.agent, { prefixOf: 'living' }));
    return { asked: await askedFacts(platform, db, agent), ...direct };
  }
  if ('task' in target) {
    const task = await findTask(db, target.task, from.projectId ?? undefined);
    const workers = (await agentsOfTask(db, task.id)).toReversed();
    return {
      asked: await choose(platform, db, from, workers, `the task ${task.name}`),
      taskId: task.id,
      phase: task.phase,
    };
  }
  const { phase } = target;
  const workers = await agentsInPhase(db, phase, from.projectId);
  return { asked: await choose(platform, db, from, workers, `the phase ${phase}`), taskId: null, phase };
}

async function choose(
  platform: DefinitionPlatform,
  db: Database,
  from: Agent,
  workers: Agent[],
  what: string,
): Promise<Asked> {
  const candidates: Asked[] = [];
  for (const agent of workers) if (agent.endedAt === null) candidates.push(await askedFacts(platform, db, agent));
  return chooseAsked(from, candidates, what);
}

/** The facts that decide if an agent can be asked now. */
export async function askedFacts(platform: DefinitionPlatform, db: Database, { id }: Agent): Promise<Asked> {
  const facts = await agentView(db, id);
  if (facts === null) throw new PawlError('agent_not_found', `There is no agent ${id}.`);
  const rests = facts.run !== null && facts.run.outcome !== null;
  const first = await firstDefinition(platform, facts);
  const resumable = first === null ? rests && (await isResumable(platform, db, facts.agent)) : true;
  return { ...facts, first, resumable };
}
