import type { PlanDetail } from '@pawl/protocol/plan/plan-view';
import type { TaskView } from '@pawl/protocol/plan/view';
import { tokens } from '../amount.ts';
import { taskTone } from '../state-tone.ts';
import { printableLine } from '../text.ts';
import type { Line } from '../tone.ts';
import { span } from '../tone.ts';

const shortId = (id: string) => id.slice(0, 6);

/** A plan as a tree: phases with their tasks, each with its state and its cause, then its obstacles. */
export function planLines({ plan, pages, decisions, phases, tasks, stage }: PlanDetail): Line[] {
  const ofPhase = Map.groupBy(tasks, ({ phaseId }) => phaseId);
  const loose = tasks.filter(({ phaseId }) => !phases.some(({ id }) => id === phaseId));
  const wave = new Map(stage.waves.flatMap((ids, index) => ids.map((id) => [id, index + 1] as const)));
  const groups = phases.map((phase) => ({
    head: row(phase, `phase ${phase.name}`),
    tasks: ofPhase.get(phase.id) ?? [],
  }));
  return [
    [span(printableLine(plan.name), 'strong'), span(`  ${plan.id}`, 'muted')],
    [span(plan.state), span(plan.detail === '' ? '' : `: ${printableLine(plan.detail)}`)],
    [
      span(
        `${plan.counts.settled} of ${plan.counts.tasks} tasks done · mode ${plan.mode} · ${pages.length} pages · ${decisions.length} decisions${spentWords(
          plan.spent,
        )
          .map((word) => ` · ${word}`)
          .join('')}`,
        'muted',
      ),
    ],
    ...groups.flatMap(({ head, tasks: own }, index) => {
      const isLast = index === groups.length - 1 && loose.length === 0;
      return [[span(isLast ? '└─ ' : '├─ ', 'muted'), ...head], ...taskLines(own, wave, isLast ? '   ' : '│  ')];
    }),
    ...taskLines(loose, wave, ''),
    ...stage.errors.map((text) => [span(`error: ${printableLine(text)}`, 'bad')]),
    ...stage.warnings.map((text) => [span(`warning: ${printableLine(text)}`, 'attention')]),
  ];
}

/** The usage of agents, as far as known. */
function spentWords(spent: PlanDetail['plan']['spent'] | null): string[] {
  if (spent === null) return [];
  const used = spent.inputTokens + spent.cachedTokens + spent.outputTokens;
  return [
    ...(used > 0 ? [`${tokens(used)} tokens`] : []),
    ...(spent.costUsd > 0 ? [`$${spent.costUsd.toFixed(2)}`] : []),
  ];
}

function taskLines(
  tasks: readonly PlanDetail['tasks'][number][],
  waves: ReadonlyMap<string, number>,
  indent: string,
): Line[] {
  return tasks.map((task, index) => {
    const branch = index === tasks.length - 1 ? '└─ ' : '├─ ';
    const extra = [
      ...(waves.has(task.id) ? [`wave ${waves.get(task.id)}`] : []),
      ...(task.priority === 'medium' ? [] : [task.priority]),
      ...(task.agent === null ? [] : [task.agent.alias]),
      ...spentWords(task.spent),
    ];
    const tail = extra.length === 0 ? [] : [span(`  (${extra.join(', ')})`, 'muted')];
    return [span(indent + branch, 'muted'), ...row(task, task.name), ...tail];
  });
}

function row({ id, state, detail }: Pick<TaskView, 'id' | 'state' | 'detail'>, name: string): Line {
  return [
    span(`${shortId(id)} `, 'muted'),
    span(state, taskTone(state)),
    span(` ${printableLine(name)}`),
    ...(detail === '' ? [] : [span(`: ${printableLine(detail)}`, 'muted')]),
  ];
}

/** The waves of a plan: what can start together. */
export function waveLines({ tasks, stage }: PlanDetail): string[] {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  return stage.waves.flatMap((ids, index) => [
    `wave ${index + 1}`,
    ...ids.map((id) => {
      const task = byId.get(id);
      const phase = task === undefined || task.phase === '' ? '' : ` [${printableLine(task.phase)}]`;
      return `  ${shortId(id)} ${printableLine(task?.name ?? '')}${phase}`;
    }),
  ]);
}

/** A plan as a Mermaid graph: phases as boxes, an arrow from each task to those that wait for it. */
export function planMermaid({ phases, tasks }: PlanDetail): string {
  const number = new Map([...phases, ...tasks].map(({ id }, index) => [id, `n${index + 1}`]));
  const label = (text: string) => `"${printableLine(text).replaceAll('"', '#quot;')}"`;
  const node = ({ id, name }: { id: string; name: string }) => `${number.get(id)}[${label(name)}]`;
  const arrows = (from: readonly string[], to: string, arrow: string) =>
    from.flatMap((id) => (number.has(id) ? [`  ${number.get(id)} ${arrow} ${number.get(to)}`] : []));
  const ofPhase = Map.groupBy(tasks, ({ phaseId }) => phaseId);
  const boxed = new Set(phases.flatMap(({ id }) => ofPhase.get(id) ?? []).map(({ id }) => id));
  return [
    'graph TD',
    ...phases.flatMap((phase) => [
      `  subgraph ${number.get(phase.id)}[${label(phase.name)}]`,
      ...(ofPhase.get(phase.id) ?? []).map((task) => `    ${node(task)}`),
      '  end',
    ]),
    ...tasks.filter(({ id }) => !boxed.has(id)).map((task) => `  ${node(task)}`),
    ...phases.flatMap(({ id, dependsOn }) => arrows(dependsOn, id, '-->')),
    ...tasks.flatMap(({ id, dependsOn, ifFailed }) => [
      ...arrows(dependsOn, id, '-->'),
      ...arrows(ifFailed, id, '-. if it fails .->'),
    ]),
  ].join('\n');
}
