import { isPlanningMode } from '@pawl/core/plan/output-file';
import type { PlanInput } from '@pawl/core/sessions/input-files';
import { PawlError } from '@pawl/schema/error';
import type { PlanContent } from '@pawl/schema/plan/plan';
import type { Project, WorkMode } from '@pawl/schema/record';
import { initiativeById } from '@pawl/store/plan/initiatives';
import { planContent } from '@pawl/store/plan/plan-records';
import { planAgentOf } from '@pawl/store/plan/proposals';
import type { Database } from '@pawl/store/tables';
import { findPlan } from './plan-facts.ts';

/** The plan, and the phase, that a new planning agent works for. */
export async function planWork(
  db: Database,
  project: Project | null,
  request: { plan: string; phase?: string | undefined; mode: WorkMode },
): Promise<{ initiativeId: string; phaseId: string | null }> {
  if (!isPlanningMode(request.mode) || project === null) {
    throw new PawlError('invalid_input', `An agent in mode ${request.mode} works for no plan.`, {
      hint: 'Planning modes do: discuss, plan, detail, refine, refine-chat.',
    });
  }
  const { id } = await findPlan(db, request.plan, project.id);
  const phaseId = request.mode === 'detail' ? phaseToDetail(await planContent(db, id), request.phase) : null;
  return { initiativeId: id, phaseId };
}

/** The named phase, or the first one without tasks. */
function phaseToDetail({ phases, tasks }: PlanContent, word: string | undefined): string {
  const isEmpty = (id: string) => !tasks.some(({ phaseId }) => phaseId === id);
  const found =
    word === undefined
      ? phases.filter(({ id }) => isEmpty(id)).slice(0, 1)
      : phases.filter(({ id, name }) => id === word || name === word || (word.length >= 4 && id.startsWith(word)));
  const [phase] = found;
  if (phase !== undefined && found.length === 1) return phase.id;
  if (word === undefined) {
    throw new PawlError('conflict', 'Every phase of the plan has tasks.', {
      hint: phases.length === 0 ? 'Plan phases first: pawl plan draft' : 'Name the phase to detail further.',
    });
  }
  const kind = phase === undefined ? 'no phase' : 'several phases';
  throw new PawlError(
    phase === undefined ? 'not_found' : 'ambiguous',
    `${JSON.stringify(word)} names ${kind} of the plan.`,
  );
}

/** The plan that an agent works for, as its input files show it; null if it works for none. */
export async function planInput(db: Database, agentId: string): Promise<PlanInput | null> {
  const planAgent = await planAgentOf(db, agentId);
  const initiative = planAgent === null ? null : await initiativeById(db, planAgent.initiativeId);
  if (planAgent === null || initiative === null) return null;
  return { initiative, content: await planContent(db, initiative.id), phaseId: planAgent.phaseId };
}
