import { printable, printableLine } from '@pawl/present/text';
import { reviewLines } from '@pawl/present/plan/review-text';
import type { PlanLanding } from '@pawl/protocol/plan/plan-view';
import type { PhaseReview } from '@pawl/protocol/plan/review-view';
import { PawlError } from '@pawl/schema/error';
import type { CommandContext } from '../../context.ts';
import { withDaemon } from '../../daemon/launch.ts';
import { paintLine } from '../../terminal/palette.ts';
import type { ProjectOption } from '../../project/project-option.ts';
import { projectPath } from '../../project/project-option.ts';

export type ReviewOptions = ProjectOption & {
  approve?: boolean;
  hash?: string;
  diff?: boolean;
  comment?: string;
  file?: string;
  line?: number;
};

/** Shows the work of a phase, comments on it, or approves it. */
export async function reviewPhase(
  context: CommandContext,
  plan: string,
  phase: string | undefined,
  options: ReviewOptions,
): Promise<number> {
  const { approve, comment, hash, file, line } = options;
  if (approve === true && comment !== undefined)
    throw new PawlError('usage', 'A comment and an approval exclude each other.');
  if (comment === undefined && (file !== undefined || line !== undefined))
    throw new PawlError('usage', '--file and --line belong to a comment.', { hint: 'Add --comment "…".' });
  const which = phase === undefined ? {} : { phase };
  const review = await withDaemon(context.home, (client) => {
    if (approve === true)
      return client.approvePhase(plan, { ...which, ...(hash === undefined ? {} : { hash }) }, projectPath(options));
    if (comment === undefined) return client.showReview(plan, { ...projectPath(options), ...which });
    const place = { ...(file === undefined ? {} : { file }), ...(line === undefined ? {} : { line }) };
    return client.commentPhase(plan, { ...which, body: comment, ...place }, projectPath(options));
  });
  return answer(context, review, options.diff ?? false);
}

/** Requests changes of a phase: one revision handles every open thread. */
export async function requestChanges(
  context: CommandContext,
  plan: string,
  text: string[],
  options: ProjectOption & { phase?: string },
): Promise<number> {
  const body = {
    ...(text.length === 0 ? {} : { body: text.join(' ') }),
    ...(options.phase === undefined ? {} : { phase: options.phase }),
  };
  const review = await withDaemon(context.home, (client) => client.requestChanges(plan, body, projectPath(options)));
  return answer(context, review, false);
}

/** Answers or closes a thread. */
export async function settleThread(context: CommandContext, thread: string, text: string | null): Promise<number> {
  const review = await withDaemon(context.home, (client) =>
    text === null ? client.resolveThread(thread) : client.answerThread(thread, text),
  );
  return answer(context, review, false);
}

/** Asks the queue to merge the work of a plan. */
export async function landPlan(context: CommandContext, plan: string, options: ProjectOption): Promise<number> {
  const landing = await withDaemon(context.home, (client) => client.landPlan(plan, projectPath(options)));
  context.answer('landing', landing, () =>
    landing.changes.map((change) => `asked to merge ${changeWords(change)}`).join('\n'),
  );
  return 0;
}

/** Proposes a change that undoes landed work. */
export async function revertPlan(
  context: CommandContext,
  plan: string,
  part: string | undefined,
  options: ProjectOption,
): Promise<number> {
  const body = part === undefined ? {} : { of: part };
  const landing = await withDaemon(context.home, (client) => client.revertPlan(plan, body, projectPath(options)));
  context.answer('landing', landing, () =>
    landing.changes
      .map((change) => `opened ${changeWords(change)}; merge it: pawl change merge ${change.id.slice(0, 8)}`)
      .join('\n'),
  );
  return 0;
}

const changeWords = ({ id, title, branch }: PlanLanding['changes'][number]) =>
  `${id.slice(0, 8)} ${printableLine(title)} (${printableLine(branch)})`;

function answer(context: CommandContext, review: PhaseReview, diff: boolean): number {
  context.answer('review', review, () => {
    const lines = reviewLines(review).map((line) => paintLine(line, context.colours));
    const patch = review.truncated ? `${review.patch}\n(the diff is cut here)` : review.patch;
    return [...lines, ...(diff ? ['', printable(patch).trimEnd()] : [])].join('\n');
  });
  return 0;
}
