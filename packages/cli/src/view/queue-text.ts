import { count, duration } from '@pawl/present/amount';
import { mainState } from '@pawl/present/changes/main-state';
import { changeTone } from '@pawl/present/state-tone';
import { fit, printableLine, width } from '@pawl/present/text';
import type { ChangeView } from '@pawl/protocol/changes/view';
import type { InboxEmergency } from '@pawl/protocol/questions/view';
import type { QueueView } from '@pawl/protocol/queue/view';
import { authorOf, checkLine, shortCommit, shortId } from './change-text.ts';
import type { CommandContext } from '../context.ts';
import type { Palette } from '../terminal/palette.ts';
import { painter } from '../terminal/palette.ts';

/** Renders a merge queue: main, problems, waiting changes and why, and running checks. */
export function describeQueue(queue: QueueView, { colours, columns }: CommandContext, now: number): string {
  const checks = queue.running.length > 0 ? queue.running : queue.checks.slice(0, lastChecks);
  return [
    headOf(queue, colours),
    ...alarmOf(queue, colours, now),
    ...queue.changes.map((change, index) => changeRow(change, index + 1, colours, columns)),
    ...(queue.changes.length === 0 ? ['  nothing is queued'] : []),
    ...(checks.length === 0 ? [] : [colours.dim(queue.running.length > 0 ? 'running' : 'last checks')]),
    ...checks.map((check) => checkLine(check, colours, now)),
    ...(queue.trouble === null ? [colours.dim(rulesOf(queue))] : []),
  ].join('\n');
}

/** How many ended checks are shown while none runs. */
const lastChecks = 3;

function headOf(queue: QueueView, colours: Palette): string {
  const { is, word, tone } = mainState(queue);
  const commit = queue.main === null ? '' : ` ${shortCommit(queue.main)}`;
  const tests = is === 'green' && queue.counts !== null ? `, ${count(queue.counts.run, 'test')}` : '';
  return `${colours.bold(queue.project.name)}  ${printableLine(queue.branch)}${commit} is ${painter(tone, colours)(word)}${tests}`;
}

/** Names the agent that repairs a red target branch, or why there is none and how a person can repair it. */
export function repairOf({ fixer, trouble }: Pick<InboxEmergency, 'fixer' | 'trouble'>): string {
  if (fixer !== null) return `${fixer.alias} repairs it`;
  const why =
    trouble === null ? 'no agent repairs it yet' : `no agent could be started to repair it: ${printableLine(trouble)}`;
  return `${why}; with a repair of yours: pawl change merge <change> --fix`;
}

const noChecks = 'there are no checks, so nothing can go in: name them in .pawl/config.yaml (pawl init finds them)';

/** The obstacles of the queue, worst first. */
function alarmOf(queue: QueueView, colours: Palette, now: number): string[] {
  const { emergency, pausedAt, waiting, trouble, config } = queue;
  const lines: string[] = [];
  if (trouble !== null) lines.push(colours.red(`nothing moves: ${printableLine(trouble)}`));
  if (emergency !== null) {
    const since = duration(Math.max(0, now - emergency.since));
    const why = queue.checks.find(({ id }) => id === emergency.checkId)?.detail ?? '';
    lines.push(
      colours.red(`EMERGENCY: ${printableLine(queue.branch)} is red at ${shortCommit(emergency.commit)} for ${since}`),
      colours.red(`  nothing is merged; ${repairOf(emergency)}${why === '' ? '' : `; ${printableLine(why)}`}`),
      colours.red('  why: pawl queue log'),
    );
  }
  if (pausedAt !== null) {
    lines.push(colours.yellow(`paused for ${duration(Math.max(0, now - pausedAt))}; resume it: pawl queue resume`));
  }
  // A failed pass leaves the same problem here.
  if (waiting !== null && (trouble === null || waiting.changes.length > 0)) {
    const what =
      waiting.changes.length === 0
        ? 'nothing moves'
        : `${count(waiting.changes.length, 'green change')} cannot go in yet`;
    lines.push(colours.yellow(`${what}: ${printableLine(waiting.reason)}`));
  }
  lines.push(...queue.advice.map((line) => colours.yellow(printableLine(line))));
  // An unreadable configuration has no details.
  if (trouble !== null) return lines;
  if (!config.enabled) lines.push(colours.yellow('the queue is switched off in .pawl/config.yaml: nothing is merged'));
  else if (config.checks.length === 0) lines.push(colours.yellow(noChecks));
  return lines;
}

/** A queued change: one line, and its reason below. */
function changeRow(change: ChangeView, place: number, colours: Palette, columns: number): string {
  const start = `${String(place).padStart(3)}  ${shortId(change.id)}  `;
  const state = change.state.padEnd('needs-human-input'.length);
  const author = fit(printableLine(authorOf(change)), authorColumns);
  const padding = ' '.repeat(Math.max(0, authorColumns - width(author)));
  const room = Math.max(10, columns - width(start) - state.length - authorColumns - 4);
  const painted = painter(changeTone(change.state), colours)(state);
  const line = `${start}${painted}  ${author}${padding}  ${fit(printableLine(change.title), room)}`;
  if (change.detail === '') return line;
  return `${line}\n     ${colours.dim(fit(printableLine(change.detail), Math.max(10, columns - 5)))}`;
}

const authorColumns = 14;

/** The project's queue settings, in one line. */
function rulesOf({ config }: QueueView): string {
  const from = {
    commit: 'as committed',
    checkout: 'from the checkout, not on the target branch yet',
    none: 'no .pawl/config.yaml',
  };
  return [
    config.checks.length === 0 ? 'no checks' : config.checks.map(printableLine).join(', '),
    `${config.method}, up to ${config.batch} at once`,
    ...(config.remote === null ? [] : [`remote ${printableLine(config.remote)}`]),
    ...(config.forge === 'local' ? [] : [config.forge]),
    ...(config.review === null ? [] : [`review by ${printableLine(config.review)}`]),
    ...(config.guard ? [] : ['guard off']),
    config.auto ? 'merged by itself' : 'you merge (pawl change merge)',
    from[config.source],
  ].join(' · ');
}
