import type { Anchor, PhaseWork, ReviewThread } from '@pawl/schema/plan/plan';
import { PawlError } from '@pawl/schema/error';

/** How many lines around a commented line identify it. */
const contextLines = 3;

/** Anchors a comment to a line of a file, by its content. */
export function anchorAt(content: string, path: string, line: number): Anchor {
  const lines = content.split('\n');
  const text = lines[line - 1];
  if (text === undefined) {
    throw new PawlError('invalid_input', `${path} has ${lines.length} lines; there is no line ${line}.`);
  }
  const before = lines.slice(Math.max(0, line - 1 - contextLines), line - 1);
  return { path, line, text, before, after: lines.slice(line, line + contextLines) };
}

/**
 * Finds a commented line in the file as it is now; null if the line is gone. Of several equal lines, the one with the
 * most equal lines around it counts, then the nearest.
 */
export function findAnchor(content: string | null, anchor: Anchor): number | null {
  if (content === null) return null;
  const lines = content.split('\n');
  let best: { line: number; equal: number; away: number } | null = null;
  for (const [index, text] of lines.entries()) {
    if (text !== anchor.text) continue;
    const equal = equalAround(lines, index, anchor);
    // A line without letters, such as a bracket, is only known by its neighbours.
    if (equal === 0 && !/[\p{L}\p{N}]/u.test(text)) continue;
    const away = Math.abs(index + 1 - anchor.line);
    if (best === null || equal > best.equal || (equal === best.equal && away < best.away))
      best = { line: index + 1, equal, away };
  }
  return best?.line ?? null;
}

function equalAround(lines: readonly string[], index: number, { before, after }: Anchor): number {
  const above = before.toReversed().filter((text, at) => lines[index - 1 - at] === text).length;
  return above + after.filter((text, at) => lines[index + 1 + at] === text).length;
}

/** The work of a phase as ranges of commits: works that follow each other become one. */
export function rangesOf(works: readonly PhaseWork[]): { from: string; to: string }[] {
  const ranges: { from: string; to: string }[] = [];
  const left = new Map(works.map((work) => [work.from, work]));
  const ends = new Set(works.map(({ to }) => to));
  for (const work of works) {
    // It continues another one, which takes it along.
    if (ends.has(work.from)) continue;
    let { to } = work;
    for (let next = left.get(to); next !== undefined && next.to !== to; next = left.get(to)) ({ to } = next);
    ranges.push({ from: work.from, to });
  }
  return ranges;
}

/** `open`: not sent to an author yet; `sent`: a revision has to answer it. */
export type ThreadState = 'open' | 'sent' | 'answered' | 'resolved';

export function threadState({ resolvedAt, answeredAt, revisionId }: ReviewThread): ThreadState {
  if (resolvedAt !== null) return 'resolved';
  if (answeredAt !== null) return 'answered';
  return revisionId === null ? 'open' : 'sent';
}

/** The task of a revision: every thread with its place, and how to answer it. */
export function revisionText(phase: { name: string }, threads: readonly ReviewThread[]): string {
  const listed = threads.map(({ id, anchor, body }) => {
    const place = anchor === null ? '' : ` (${anchor.path}:${anchor.line})\n\n    ${anchor.text.trim()}`;
    return `Thread ${id.slice(0, 8)}${place}\n\n${body.trim().replaceAll(/^/gm, '> ')}`;
  });
  return [
    `A person reviewed the phase ${phase.name} and requests changes. Its work is in your worktree already. ` +
      'Handle each thread: change what it asks for, or say why not.',
    'Answer every thread before you finish, in one or two sentences: `pawl plan answer THREAD "what you did"`.',
    ...listed,
  ].join('\n\n');
}

/** A line for each thread that a revision has not answered. */
export function unansweredText(threads: readonly ReviewThread[]): string[] {
  return threads
    .filter((thread) => threadState(thread) === 'sent')
    .map(({ id, body }) => `The review thread ${id.slice(0, 8)} has no answer: ${body.split('\n')[0]?.slice(0, 100)}`);
}
