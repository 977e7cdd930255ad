import type { PhaseReview, ThreadView } from '@pawl/protocol/plan/review-view';
import { taskTone } from '../state-tone.ts';
import { printableLine } from '../text.ts';
import type { Line } from '../tone.ts';
import { span } from '../tone.ts';

/** The review of a phase: its tasks, the files that they changed, its threads, and the next commands. */
export function reviewLines({ planId, phase, tasks, files, hash, threads }: PhaseReview): Line[] {
  const plan = planId.slice(0, 6);
  const isWaiting = phase.state === 'in_review';
  return [
    [span(`phase ${printableLine(phase.name)}`, 'strong'), span(`  ${phase.id}`, 'muted')],
    [span(phase.state, taskTone(phase.state)), span(phase.detail === '' ? '' : `: ${printableLine(phase.detail)}`)],
    ...tasks.map(({ id, name, state, summary }) => [
      span(`  ${id.slice(0, 6)} `, 'muted'),
      span(state, taskTone(state)),
      span(` ${printableLine(name)}`),
      ...(summary === null || summary === '' ? [] : [span(`: ${printableLine(summary)}`, 'muted')]),
    ]),
    ...(files.length === 0 ? [[span('no commits', 'muted')]] : []),
    ...files.map(({ path, added, removed }) => [
      span(`  ${printableLine(path)}`),
      span(added === null ? '  binary' : `  +${added} -${removed ?? 0}`, 'muted'),
    ]),
    ...threads.flatMap(threadLines),
    ...(isWaiting
      ? [
          [span(`read it: pawl plan review ${plan} --diff`, 'muted')],
          [span(`approve exactly this: pawl plan review ${plan} --approve --hash ${hash.slice(0, 12)}`, 'muted')],
          [span(`request changes: pawl plan changes ${plan} "…"`, 'muted')],
        ]
      : []),
  ];
}

function threadLines({ id, state, anchor, line, isOutdated, body, answer, answeredByAgent }: ThreadView): Line[] {
  const place =
    anchor === null ? '' : ` ${printableLine(anchor.path)}:${isOutdated ? `${anchor.line} (outdated)` : line}`;
  const by = answeredByAgent === null ? 'answer' : printableLine(answeredByAgent.alias);
  return [
    [span(`  ${id.slice(0, 8)} `, 'muted'), span(state, state === 'resolved' ? 'good' : 'attention'), span(place)],
    [span(`    ${printableLine(body)}`)],
    ...(answer === null ? [] : [[span(`    ${by}: ${printableLine(answer)}`, 'muted')]]),
  ];
}
