import { count, duration } from '@pawl/present/amount';
import { changeTone, checkTone } from '@pawl/present/state-tone';
import { printable, printableLine } from '@pawl/present/text';
import type { ChangeCommentView, ChangeDetail, ChangeView } from '@pawl/protocol/changes/view';
import type { CheckLog, CheckView } from '@pawl/protocol/checks/view';
import type { Palette } from '../terminal/palette.ts';
import { painter } from '../terminal/palette.ts';

/** How much of an id, and of a commit, is shown: enough to name it. */
const idCharacters = 8;
const commitCharacters = 10;

export const shortId = (id: string) => id.slice(0, idCharacters);
export const shortCommit = (commit: string) => printableLine(commit).slice(0, commitCharacters);

export function authorOf({ author }: Pick<ChangeView, 'author'>): string {
  return author?.alias ?? 'a person';
}

/** A change in one line: its name and state. */
export function changeLine(change: ChangeView, colours: Palette): string {
  const state = painter(changeTone(change.state), colours)(change.state);
  const detail = change.detail === '' ? '' : `: ${printableLine(change.detail)}`;
  return `${colours.bold(printableLine(change.title))} (${shortId(change.id)}) is ${state}${detail}`;
}

/** The next command for a change; null if there is nothing to do but wait. */
export function nextOf(change: ChangeView): string | null {
  const id = shortId(change.id);
  if (change.state === 'needs-human-input') {
    const isWeaker = change.findings.length > 0 && change.approvedHead !== change.head;
    if (isConflict(change) && !isWeaker) return `resolve its conflict: pawl change fix ${id}`;
    const [look, verb] = isOut(change) && !isWeaker ? ['log', 'retry'] : ['diff', 'approve'];
    return `look at it: pawl change ${look} ${id}; then: pawl change ${verb} ${id}, or pawl change close ${id} --reason "…"`;
  }
  if (isConflict(change)) return `resolve its conflict: pawl change fix ${id}`;
  if (change.state === 'ejected') return `see why: pawl change log ${id}; mend it, and: pawl change open`;
  if (change.state === 'blocked' && change.hold !== null) return `unblock it: pawl change unblock ${id}`;
  if (change.state === 'blocked' && change.blocking > 0) return `what blocks it: pawl change show ${id}`;
  if (change.state === 'ready') return `look at it first: pawl change diff ${id}`;
  return change.state === 'open' && change.queuedAt === null ? `merge it: pawl change merge ${id}` : null;
}

/** Whether the current head was ejected. */
function isOut({ ejection, head }: ChangeView): boolean {
  return ejection !== null && ejection.head === head;
}

function isConflict(change: ChangeView): boolean {
  return (
    isOut(change) && change.ejection?.kind === 'conflict' && ['ejected', 'needs-human-input'].includes(change.state)
  );
}

/** All details of one change, as text. */
export function describeChange(detail: ChangeDetail, colours: Palette, now: number): string {
  const { change, comments, checks, learnings } = detail;
  const state = painter(changeTone(change.state), colours)(change.state);
  const since = (at: number) => `${duration(Math.max(0, now - at))} ago`;
  const rows: [string, string | null][] = [
    ['id', change.id],
    ['project', change.project.name],
    ['branch', `${change.branch} at ${shortCommit(change.head)}`],
    ['author', authorOf(change)],
    ['opened', since(change.openedAt)],
    ['queued', change.queuedAt === null ? null : since(change.queuedAt)],
    ['asked for', change.askedHead === change.head ? 'a person asked to merge it' : null],
    ['forge', change.forgeRef],
    ['went back', change.returns === 0 ? null : count(change.returns, 'time')],
    [
      'merged',
      change.mergedAt === null ? null : `${since(change.mergedAt)} as ${shortCommit(change.mergedCommit ?? '')}`,
    ],
    ['closed', change.closedAt === null ? null : since(change.closedAt)],
    ['learnings', learnings],
    ['in conflict', isOut(change) ? change.ejection?.files.join(', ') || null : null],
  ];
  const next = nextOf(change);
  const detailText = change.detail === '' ? '' : `: ${printableLine(change.detail)}`;
  return [
    colours.bold(printableLine(change.title)),
    `${colours.dim('state'.padEnd(13))}${state}${detailText}`,
    ...rows.flatMap(([name, value]) =>
      value === null ? [] : [`${colours.dim(name.padEnd(13))}${printableLine(value)}`],
    ),
    ...(change.summary.trim() === '' ? [] : ['', indented(change.summary)]),
    ...comments.flatMap((comment) => ['', commentText(comment, colours, now)]),
    ...(checks.length === 0
      ? []
      : ['', colours.dim('checks'), ...checks.map((check) => checkLine(check, colours, now))]),
    ...(next === null ? [] : ['', colours.dim(next)]),
  ].join('\n');
}

function commentText(comment: ChangeCommentView, colours: Palette, now: number): string {
  const isOpen = comment.kind === 'blocking' && comment.addressedAt === null;
  const kind = comment.kind === 'blocking' ? ', blocking' : '';
  const age = `${duration(Math.max(0, now - comment.at))} ago`;
  const who = comment.author?.alias ?? 'a person';
  const head = `${shortId(comment.id)}  ${who}${kind}, ${age}, at ${shortCommit(comment.head)}`;
  const answer = comment.addressed === null ? [] : [indented(`addressed: ${comment.addressed}`)];
  return [isOpen ? colours.yellow(head) : colours.dim(head), indented(comment.body), ...answer].join('\n');
}

/** A check in one line: its subject, result or progress, duration, and number of tests. */
export function checkLine(check: CheckView, colours: Palette, now: number): string {
  const paint = painter(checkTone(check.outcome), colours);
  const begun = check.startedAt ?? check.plannedAt;
  const what = check.changes.length === 0 ? 'main' : `main + ${count(check.changes.length, 'change')}`;
  const tests = check.counts === null ? '' : `, ${count(check.counts.run, 'test')}`;
  const time = duration(Math.max(0, (check.endedAt ?? now) - begun));
  const detail = check.detail === '' || check.detail === check.outcome ? '' : `: ${printableLine(check.detail)}`;
  return `  ${colours.dim(shortId(check.id))}  ${what}  ${paint(check.outcome)}${detail} (${time}${tests})`;
}

/** The output of a check, by step, and its result. */
export function logText({ check, output, leftOutBytes }: CheckLog, colours: Palette, now: number): string {
  const leftOut = leftOutBytes === 0 ? [] : [colours.dim(`(${leftOutBytes} bytes before this are left out)`)];
  const steps = output.flatMap(({ step, text }) => [
    ...(check.steps.length > 1 ? [colours.bold(`$ ${printableLine(step)}`)] : []),
    printable(text).trimEnd(),
  ]);
  return [...leftOut, ...steps, checkLine(check, colours, now).trim()].join('\n');
}

/** Foreign text, indented so that it cannot imitate ours. */
function indented(text: string): string {
  return `  ${printable(text).trim().replaceAll('\n', '\n  ')}`;
}
