import type { Initiative, InitiativeState, Phase, PlanContent, PlanVersion } from '@pawl/schema/plan/plan';
import type { Task } from '@pawl/schema/record';
import type { TaskReading, TasksById } from './plan.ts';
import { isSettled, mayStart, startsNext, taskState } from './plan.ts';

/** The facts from which the states of a plan are derived. */
export type PlanFacts = {
  initiative: Initiative;
  content: PlanContent;
  /** The hash of the content that the approval covers, as it is now. */
  hash: string;
  approved: PlanVersion | null;
  /** Tasks of the project outside of the initiative that its tasks depend on. */
  outside: TasksById;
  /** Why its budget allows no more work; null if it does. */
  breach: string | null;
  /** What became of its own branch; null if its tasks land by themselves. */
  branch: { isLanded: boolean; changeId: string | null } | null;
};

export type PlanReading = {
  initiative: { state: InitiativeState; detail: string };
  /** By id. */
  phases: ReadonlyMap<string, TaskReading>;
  tasks: ReadonlyMap<string, TaskReading>;
};

/** Agents that work on one plan at the same time, unless its launch says otherwise. */
export const usualAgents = 4;

/**
 * Reads the state of an initiative, its phases and its tasks from facts. Everything that does not run has a cause, which
 * names the verb that ends it if nothing else will.
 */
export function readPlan(facts: PlanFacts): PlanReading {
  const { content } = facts;
  const tasks = new Map([...facts.outside, ...content.tasks.map((task) => [task.id, task] as const)]);
  const ofPhase = Map.groupBy(content.tasks, ({ phaseId }) => phaseId);
  const done = new Set(
    content.phases.filter((phase) => isDone(facts, phase, ofPhase.get(phase.id) ?? [], tasks)).map(({ id }) => id),
  );
  const phasesById = new Map(content.phases.map((phase) => [phase.id, phase]));
  const plan = planGate(facts);
  const places = freePlaces(facts);
  const read = new Map<string, TaskReading>();
  for (const task of content.tasks) {
    const phase = task.phaseId === null ? undefined : phasesById.get(task.phaseId);
    const gate = phaseGate(phase, phasesById, done) ?? plan ?? coverGate(facts, task) ?? places;
    read.set(task.id, taskState(task, tasks, gate));
  }
  const phases = new Map(
    content.phases.map((phase) => {
      const own = ofPhase.get(phase.id) ?? [];
      return [phase.id, readPhase(facts, phase, { own, read, phasesById, done })];
    }),
  );
  return { initiative: readInitiative(facts, { phases, read, done }), phases, tasks: read };
}

/** Whether an approval exists and still covers the content. */
export function approvalOf({ approved, hash }: Pick<PlanFacts, 'approved' | 'hash'>): 'none' | 'valid' | 'stale' {
  if (approved === null) return 'none';
  return approved.hash === hash ? 'valid' : 'stale';
}

/** The tasks that may start now, in their order; at most as many as there are free places. */
export function readyTasks(facts: PlanFacts, compare: (one: Task, other: Task) => number): Task[] {
  const { tasks } = readPlan(facts);
  const isReady = ({ id }: Task) => {
    const reading = tasks.get(id);
    return reading !== undefined && mayStart(reading);
  };
  return facts.content.tasks.filter(isReady).toSorted(compare).slice(0, placesOf(facts).free);
}

const word = ({ id }: Pick<Initiative, 'id'>) => id.slice(0, 6);

/** True if a phase is over: all its tasks are, and a person has approved it where that is required. */
function isDone({ initiative }: PlanFacts, phase: Phase, own: readonly Task[], tasks: TasksById): boolean {
  if (!hasEnded(own, tasks)) return false;
  return initiative.mode === 'auto' || phase.approvedAt !== null;
}

function hasEnded(own: readonly Task[], tasks: TasksById): boolean {
  return own.length > 0 && own.every((task) => isSettled(task, tasks));
}

function phaseGate(
  phase: Phase | undefined,
  phases: ReadonlyMap<string, Phase>,
  done: ReadonlySet<string>,
): TaskReading | null {
  const awaited = phase?.dependsOn.filter((id) => !done.has(id)) ?? [];
  if (awaited.length === 0) return null;
  const names = awaited.map((id) => phases.get(id)?.name ?? `${id}, which does not exist`);
  return { state: 'blocked', detail: `waits for the phase ${names.join(', ')}` };
}

/** Why no task of the plan may start. */
function planGate(facts: PlanFacts): TaskReading | null {
  const { initiative, breach } = facts;
  const pending = (detail: string): TaskReading => ({ state: 'pending', detail });
  if (initiative.archivedAt !== null) return pending('its plan is archived');
  const approval = approvalOf(facts);
  if (approval === 'none') return pending(`its plan is not approved: pawl plan approve ${word(initiative)}`);
  if (approval === 'stale')
    return pending(`its plan was edited after its approval: pawl plan approve ${word(initiative)}`);
  if (initiative.launchedAt === null) return pending(`its plan is not launched: pawl plan launch ${word(initiative)}`);
  if (initiative.pausedAt !== null) return pending(`its plan is paused: pawl plan resume ${word(initiative)}`);
  if (breach !== null)
    return pending(`the budget of its plan is used up (${breach}): pawl plan edit ${word(initiative)} --budget …`);
  return null;
}

/** An approval covers the tasks that existed then; what agents found later waits for the next one. */
function coverGate({ initiative, approved }: PlanFacts, { id, foundWhile }: Task): TaskReading | null {
  if (foundWhile === null || approved?.taskIds.includes(id) === true) return null;
  const detail = `it was found after the plan was approved: pawl plan approve ${word(initiative)}`;
  return { state: 'pending', detail };
}

function placesOf({ initiative, content }: PlanFacts): { taken: number; limit: number; free: number } {
  const limit = initiative.launch?.agents ?? usualAgents;
  const taken = content.tasks.filter(
    (task) => task.agentId !== null && task.finishedAt === null && task.completedAt === null,
  ).length;
  return { taken, limit, free: Math.max(0, limit - taken) };
}

function freePlaces(facts: PlanFacts): TaskReading {
  const { taken, limit, free } = placesOf(facts);
  const detail = free > 0 ? startsNext : `waits for a free place: ${taken} of ${limit} agents work on its plan`;
  return { state: 'pending', detail };
}

function readPhase(
  { initiative }: PlanFacts,
  phase: Phase,
  facts: {
    own: readonly Task[];
    read: ReadonlyMap<string, TaskReading>;
    phasesById: ReadonlyMap<string, Phase>;
    done: ReadonlySet<string>;
  },
): TaskReading {
  const { own, read, phasesById, done } = facts;
  if (done.has(phase.id)) return { state: 'completed', detail: '' };
  const readings = own.flatMap(({ id }) => read.get(id) ?? []);
  const some = (...states: TaskReading['state'][]) => readings.find(({ state }) => states.includes(state));
  const open = some('pending', 'in_progress', 'in_review', 'blocked');
  if (own.length > 0 && open === undefined)
    return { state: 'in_review', detail: `waits for your review: pawl plan review ${word(initiative)}` };
  const gate = phaseGate(phase, phasesById, done);
  const working = some('in_progress', 'in_review');
  if (working !== undefined) return { state: 'in_progress', detail: '' };
  if (gate !== null) return gate;
  if (own.length === 0)
    return {
      state: 'pending',
      detail: `it has no tasks: pawl plan detail ${word(initiative)} ${phase.id.slice(0, 6)}`,
    };
  const first = some('pending') ?? open;
  return first ?? { state: 'pending', detail: '' };
}

/** Why a plan whose tasks are all over is not completed: main does not have its branch. */
function branchReading({ initiative, branch }: PlanFacts): PlanReading['initiative'] | null {
  if (branch === null || branch.isLanded) return null;
  const detail =
    branch.changeId === null
      ? `its work is on ${initiative.branch}: pawl plan land ${word(initiative)}`
      : `its branch is proposed: pawl change show ${branch.changeId.slice(0, 8)}`;
  return { state: 'in_review', detail };
}

function readInitiative(
  facts: PlanFacts,
  {
    phases,
    read,
    done,
  }: {
    phases: ReadonlyMap<string, TaskReading>;
    read: ReadonlyMap<string, TaskReading>;
    done: ReadonlySet<string>;
  },
): PlanReading['initiative'] {
  const { initiative, content } = facts;
  if (initiative.archivedAt !== null) return { state: 'archived', detail: '' };
  if (content.tasks.length === 0) {
    const verb = content.phases.length === 0 ? 'draft' : 'detail';
    return { state: 'draft', detail: `no tasks are planned: pawl plan ${verb} ${word(initiative)}` };
  }
  const isOver = [...read.values()].every(({ state }) => ['completed', 'cancelled', 'skipped'].includes(state));
  if (initiative.launchedAt !== null && isOver && content.phases.every(({ id }) => done.has(id)))
    return branchReading(facts) ?? { state: 'completed', detail: '' };
  const gate = planGate(facts);
  if (approvalOf(facts) !== 'valid') return { state: 'planned', detail: gate?.detail.replace('its plan', 'it') ?? '' };
  if (initiative.launchedAt === null)
    return { state: 'approved', detail: gate?.detail.replace('its plan', 'it') ?? '' };
  const waiting = [...phases.values()].find(({ state }) => state === 'in_review');
  if (waiting !== undefined) return { state: 'in_review', detail: waiting.detail };
  return { state: 'working', detail: gate?.detail.replace('its plan', 'it') ?? '' };
}
