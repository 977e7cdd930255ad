import { count } from '@pawl/present/amount';
import { printableLine } from '@pawl/present/text';
import type { PruneAnswer } from '@pawl/protocol/agents/worktrees/view';
import { PawlError } from '@pawl/schema/error';
import type { CommandContext } from '../../context.ts';
import { withDaemon } from '../../daemon/launch.ts';
import { agrees, atTerminal } from '../../agent/person.ts';

export type PruneOptions = { olderThan: string; force?: boolean; yes?: boolean; dryRun?: boolean };

/**
 * Permanently deletes trash entries that are old enough. It cannot be undone, so it requires --yes, or a person who has
 * seen the list and agreed.
 */
export async function prune(context: CommandContext, options: PruneOptions, person = atTerminal()): Promise<number> {
  const { force } = options;
  const olderThanMs = parseDuration(options.olderThan);
  const send = (body: { olderThanMs: number; dryRun?: boolean }) =>
    withDaemon(context.home, (client) => client.pruneWorktrees({ ...body, ...(force && { force }) }));
  const tell = (answer: PruneAnswer, verb: string) =>
    context.answer('pruned', answer, () => describePrune(answer, verb));

  if (options.dryRun) {
    tell(await send({ olderThanMs, dryRun: true }), 'would delete');
    return 0;
  }
  if (options.yes) {
    tell(await send({ olderThanMs }), 'deleted');
    return 0;
  }
  if (!person.present || context.json || context.quiet) {
    throw new PawlError('usage', 'This deletes permanently, and there is no terminal to confirm at.', {
      hint: 'See what would be deleted with --dry-run, then pass --yes.',
    });
  }
  const from = performance.now();
  const plan = await send({ olderThanMs, dryRun: true });
  tell(plan, 'would delete');
  if (plan.pruned.length + plan.trashed.length === 0) return 0;
  if (!agrees(await person.ask('Go ahead? [y/N] '))) {
    context.say('nothing was deleted');
    return 0;
  }
  // Entries that became old enough while the person was thinking were not shown, so they stay.
  const thoughtMs = Math.ceil(performance.now() - from);
  tell(await send({ olderThanMs: olderThanMs + thoughtMs }), 'deleted');
  return 0;
}

/** Lists the entries to delete or deleted, and those kept with the reason. */
export function describePrune({ pruned, kept, trashed }: PruneAnswer, verb: string): string {
  const lines = [
    pruned.length === 0 ? `${verb} nothing` : `${verb} ${count(pruned.length, 'worktree')} for good:`,
    ...pruned.map((entry) => `  ${printableLine(entry)}`),
  ];
  if (kept.length > 0) {
    lines.push('kept:', ...kept.map(({ entry, reason }) => `  ${printableLine(entry)}  ${printableLine(reason)}`));
  }
  if (trashed.length > 0) {
    const what = verb === 'deleted' ? 'moved to the trash' : 'would move to the trash';
    lines.push(`${what}, for nothing in them would be lost:`, ...trashed.map((path) => `  ${printableLine(path)}`));
  }
  return lines.join('\n');
}

const unitMs: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Parses a duration: 30m, 12h, 14d, or 0. */
export function parseDuration(text: string): number {
  const [, amount, unit = 'm'] = /^(?:(\d{1,6})([mhd])|0)$/.exec(text) ?? [];
  if (amount !== undefined) return Number(amount) * (unitMs[unit] ?? 0);
  if (text === '0') return 0;
  throw new PawlError('usage', `${JSON.stringify(text)} is not a duration.`, { hint: 'Use 30m, 12h, 14d or 0.' });
}
