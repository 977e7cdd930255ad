import type { PlanContent } from '@pawl/schema/plan/plan';
import type { Task } from '@pawl/schema/record';
import { matchesGlob } from '../guard/glob.ts';
import type { TasksById } from './plan.ts';
import { compareTasks, isSettled } from './plan.ts';

export type StageReport = {
  /** Reasons to refuse the plan. */
  errors: string[];
  /** Reasons to look twice: an approval has to accept them. */
  warnings: string[];
  /** Task ids: a wave can start when the one before it has landed. Empty if there are errors. */
  waves: string[][];
};

/** Examines a plan as a whole: it writes nothing. */
export function stagePlan(content: PlanContent, outside: TasksById): StageReport {
  const tasks = content.tasks.filter(({ cancelledAt }) => cancelledAt === null);
  const graph = waitGraph({ ...content, tasks }, outside);
  const errors = brokenLinks(content, outside);
  if (tasks.length === 0) errors.push('The plan has no tasks.');
  if (errors.length > 0) return { errors, warnings: [], waves: [] };
  const waves = wavesOf(tasks, graph);
  return { errors, warnings: warningsOf({ ...content, tasks }, waves, outside), waves };
}

/** Dependencies that can never be met: on records that do not exist, and cycles. */
export function brokenLinks(content: PlanContent, outside: TasksById): string[] {
  const tasks = content.tasks.filter(({ cancelledAt }) => cancelledAt === null);
  const graph = waitGraph({ ...content, tasks }, outside);
  const cycle = findCycle(graph)?.map((node) => graph.get(node)?.name);
  return [
    ...unknownIn(
      { ...content, tasks },
      new Map([...outside, ...content.tasks.map((task) => [task.id, task] as const)]),
    ),
    ...(cycle === undefined ? [] : [`These wait for each other: ${cycle.join(' → ')}.`]),
  ];
}

type Node = { name: string; waitsFor: string[]; isTask: boolean };
type Graph = ReadonlyMap<string, Node>;

/**
 * Tasks and phases as one graph; a phase has a start, which waits for other phases, and an end, which waits for its
 * tasks.
 */
function waitGraph({ phases, tasks }: PlanContent, outside: TasksById): Graph {
  const graph = new Map<string, Node>();
  const known = new Set([...tasks.map(({ id }) => id), ...phases.flatMap(({ id }) => [`${id}:start`, `${id}:end`])]);
  const ofPhase = Map.groupBy(tasks, ({ phaseId }) => phaseId);
  const add = (id: string, name: string, waitsFor: string[], isTask: boolean) =>
    graph.set(id, {
      name,
      waitsFor: waitsFor.filter((each) => known.has(each) && !outside.has(each)).toSorted(),
      isTask,
    });
  for (const { id, name, dependsOn } of phases) {
    add(
      `${id}:start`,
      `the phase ${name}`,
      dependsOn.map((other) => `${other}:end`),
      false,
    );
    add(
      `${id}:end`,
      `the phase ${name}`,
      (ofPhase.get(id) ?? []).map((task) => task.id),
      false,
    );
    // A phase without tasks still waits for those before it.
    if (!ofPhase.has(id)) graph.get(`${id}:end`)?.waitsFor.push(`${id}:start`);
  }
  for (const { id, name, dependsOn, ifFailed, phaseId } of tasks)
    add(id, name, [...dependsOn, ...ifFailed, ...(phaseId === null ? [] : [`${phaseId}:start`])], true);
  return graph;
}

/** One whole cycle, ending where it began; null if there is none. */
function findCycle(graph: Graph): string[] | null {
  const state = new Map<string, 'open' | 'done'>();
  for (const start of [...graph.keys()].toSorted()) {
    if (state.has(start)) continue;
    const path: string[] = [start];
    const next: number[] = [0];
    state.set(start, 'open');
    while (path.length > 0) {
      const node = path.at(-1) ?? '';
      const at = next.at(-1) ?? 0;
      const child = graph.get(node)?.waitsFor[at];
      if (child === undefined) {
        state.set(node, 'done');
        path.pop();
        next.pop();
        continue;
      }
      next[next.length - 1] = at + 1;
      if (state.get(child) === 'open') return withoutRepeats([...path.slice(path.indexOf(child)), child], graph);
      if (state.has(child)) continue;
      state.set(child, 'open');
      path.push(child);
      next.push(0);
    }
  }
  return null;
}

/** Start and end of a phase have one name: names it once. */
function withoutRepeats(cycle: string[], graph: Graph): string[] {
  return cycle.filter(
    (node, index) => index === 0 || graph.get(node)?.name !== graph.get(cycle[index - 1] ?? '')?.name,
  );
}

/** Tasks by the longest way to them; the order within a wave is that in which they start. */
function wavesOf(tasks: readonly Task[], graph: Graph): string[][] {
  const levels = new Map<string, number>();
  // Visits each node after what it waits for, without recursion: plans may be deep.
  const open = [...graph.keys()];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (levels.has(node)) continue;
    const { waitsFor, isTask } = graph.get(node) ?? { waitsFor: [], isTask: false };
    const missing = waitsFor.filter((each) => !levels.has(each));
    if (missing.length > 0) {
      open.push(node, ...missing);
      continue;
    }
    const before = waitsFor.reduce((most, each) => Math.max(most, levels.get(each) ?? 0), 0);
    levels.set(node, isTask ? before + 1 : before);
  }
  const waves: Task[][] = [];
  for (const task of tasks) (waves[(levels.get(task.id) ?? 1) - 1] ??= []).push(task);
  return waves.map((wave) => wave.toSorted(compareTasks).map(({ id }) => id));
}

function* unknownIn({ phases, tasks }: PlanContent, outside: TasksById): Generator<string> {
  const phaseIds = new Set(phases.map(({ id }) => id));
  const taskIds = new Set(tasks.map(({ id }) => id));
  for (const { name, dependsOn } of phases)
    for (const id of dependsOn.filter((each) => !phaseIds.has(each)))
      yield `The phase ${name} waits for ${id}, which is no phase of the plan.`;
  for (const { name, dependsOn, ifFailed, phaseId } of tasks) {
    if (phaseId !== null && !phaseIds.has(phaseId))
      yield `The task ${name} is in the phase ${phaseId}, which does not exist.`;
    for (const id of [...dependsOn, ...ifFailed].filter((each) => !taskIds.has(each) && !outside.has(each)))
      yield `The task ${name} waits for ${id}, which does not exist.`;
  }
}

/** How many tasks of a phase are usual. */
const usualTasks = { least: 2, most: 5 };

function warningsOf({ phases, tasks }: PlanContent, waves: readonly string[][], outside: TasksById): string[] {
  const warnings: string[] = [];
  const ofPhase = Map.groupBy(tasks, ({ phaseId }) => phaseId);
  for (const { id, name, isIntegration } of phases) {
    const count = ofPhase.get(id)?.length ?? 0;
    if (count === 0) warnings.push(`The phase ${name} has no tasks: those after it will wait for it.`);
    else if (count > usualTasks.most || (count < usualTasks.least && !isIntegration))
      warnings.push(`The phase ${name} has ${count} task${count === 1 ? '' : 's'}; 2 to 5 are usual.`);
  }
  const leaves = leafPhases(phases);
  if (leaves.length > 1)
    warnings.push(`${leaves.map(({ name }) => name).join(', ')}: nothing follows these phases and joins them.`);
  const byId = new Map(tasks.map((task) => [task.id, task]));
  for (const wave of waves) {
    const open = wave.flatMap((id) => byId.get(id) ?? []).filter((task) => !isSettled(task, outside));
    warnings.push(...sharedFiles(open));
  }
  return warnings;
}

/** The phases that no other one waits for, unless one is there to join them. */
export function leafPhases<Leaf extends { id: string; dependsOn: string[] }>(phases: readonly Leaf[]): Leaf[] {
  const awaited = new Set(phases.flatMap(({ dependsOn }) => dependsOn));
  return phases.filter(({ id }) => !awaited.has(id));
}

/** Pairs of tasks of one wave that claim the same file. */
function sharedFiles(wave: readonly Task[]): string[] {
  const owners = new Map<string, Task>();
  const globs: { pattern: string; task: Task }[] = [];
  const found = new Set<string>();
  const clash = (one: Task, other: Task, file: string) => {
    if (one.id !== other.id)
      found.add(`${[one.name, other.name].toSorted().join(' and ')} may run at the same time, and both own ${file}.`);
  };
  for (const task of wave) {
    for (const file of new Set(task.files)) {
      const owner = owners.get(file);
      if (owner === undefined) owners.set(file, task);
      else clash(owner, task, file);
      if (file.includes('*')) globs.push({ pattern: file, task });
    }
  }
  for (const { pattern, task } of globs)
    for (const [file, owner] of owners) if (!file.includes('*') && matchesGlob(pattern, file)) clash(owner, task, file);
  return [...found].toSorted();
}
