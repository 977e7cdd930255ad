import type { Client } from '@pawl/protocol/client';
import type { ChangeAnswer, ChangeView } from '@pawl/protocol/view/change';
import { errorCodes, PawlError } from '@pawl/schema/error';
import { changeLine, nextOf, shortCommit, shortId } from '../../view/change-text.ts';
import { behindLine, usualLookMs, watchChange, watchLocal } from '../../agent/change-wait.ts';
import type { CommandContext } from '../../context.ts';
import { withDaemon } from '../../daemon/launch.ts';
import { untilAnswered } from '../../daemon/resend.ts';
import { readText } from '../../terminal/standard-input.ts';
import { printableLine } from '../../terminal/terminal.ts';
import type { Place } from './change.ts';
import { named } from './change.ts';

/** Accepts what a change does to the gate; a person's word, for the head as it is now, or for the one that was looked at. */
export async function approveChange(
  context: CommandContext,
  reference: string,
  options: Place & { head?: string },
): Promise<number> {
  const body = options.head === undefined ? {} : { head: options.head };
  return tell(context, (client) => client.approveChange(reference, body, named(options)));
}

/** Holds a change, with a reason. */
export async function blockChange(
  context: CommandContext,
  reference: string,
  options: Place & { reason: string },
): Promise<number> {
  const reason = said('The reason', options.reason);
  return tell(context, (client) => client.blockChange(reference, { reason }, named(options)));
}

/** Lets a change go on that was held. */
export async function unblockChange(context: CommandContext, reference: string, options: Place): Promise<number> {
  return tell(context, (client) => client.unblockChange(reference, named(options)));
}

/** Tries a change again as it is. */
export async function retryChange(context: CommandContext, reference: string, options: Place): Promise<number> {
  return tell(context, (client) => client.retryChange(reference, named(options)));
}

/** Says something about a change, or how a comment on it was addressed. Each is said once: a lost answer is not asked for again. */
export async function commentChange(
  context: CommandContext,
  reference: string,
  text: string,
  options: Place & { addresses?: string },
): Promise<number> {
  const body = {
    body: said('The comment', text === '-' ? await readText() : text),
    ...(options.addresses === undefined ? {} : { addresses: options.addresses }),
  };
  const answer = await withDaemon(context.home, (client) => client.commentChange(reference, body, named(options)));
  const { change, comment } = answer;
  context.answer('comment', answer, () => {
    const what = comment.kind === 'blocking' ? 'commented; it blocks until it is addressed' : 'commented';
    const done =
      options.addresses === undefined ? '' : `, and ${shortId(printableLine(options.addresses))} is addressed`;
    return `${what}${done} (${shortId(comment.id)})\n${changeLine(change, context.colours)}`;
  });
  return 0;
}

/** Closes a change that is not to go in, with what others should know who try the same. */
export async function closeChange(
  context: CommandContext,
  reference: string,
  options: Place & { reason: string; learnings?: string },
): Promise<number> {
  const learnings = options.learnings === '-' ? await readText() : options.learnings;
  const body = {
    reason: said('The reason', options.reason),
    ...(learnings === undefined ? {} : { learnings: said('What was learned', learnings) }),
  };
  const closed = await withDaemon(context.home, (client) => client.closeChange(reference, body, named(options)));
  context.answer('change', closed, () => {
    const kept = closed.learnings === null ? '' : `\nwhat was learned is kept: ${printableLine(closed.learnings)}`;
    return `${changeLine(closed.change, context.colours)}${kept}`;
  });
  return 0;
}

/** Asks for a change to be merged when its checks pass, and says where to. With `wait` the command stays until that is decided. */
export async function mergeChange(
  context: CommandContext,
  reference: string,
  options: Place & { wait?: boolean; fix?: boolean; timeout?: number },
  lookMs = usualLookMs,
): Promise<number> {
  const body = options.fix ? { fix: true } : {};
  const queued = await untilAnswered(context.home, (client) => client.mergeChange(reference, body, named(options)));
  if (queued.warning) context.say(context.colours.yellow(printableLine(queued.warning)));
  if (!options.wait) return answerWith(context, queued, queued.note);
  context.say(context.colours.dim(printableLine(queued.note)));
  const patience = { timeoutMs: options.timeout ?? null, lookMs };
  const { seen, code } = await watchChange(context, queued.change, patience);
  const local = seen.state === 'merged' ? await watchLocal(context, seen.id, patience) : null;
  const behind = behindLine(local);
  context.answer('change', { change: seen, local }, () =>
    [textOf(seen, context), ...(behind === null ? [] : [context.colours.yellow(behind)])].join('\n'),
  );
  return code;
}

/** Opens the conflict of a change in a worktree, or commits and proposes what was resolved there. */
export async function fixChange(
  context: CommandContext,
  reference: string,
  options: Place & { continue?: boolean },
): Promise<number> {
  const body = options.continue ? { proceed: true } : {};
  const fix = await untilAnswered(context.home, (client) => client.fixChange(reference, body, named(options)));
  const { change, outcome, path, branch, onto, files, next } = fix;
  context.answer('fix', fix, () => {
    const merge = `the merge of ${shortCommit(onto)} into ${printableLine(branch)}`;
    const said = {
      begun: `${merge} is begun in ${printableLine(path ?? '')}`,
      already: `${merge} is already begun in ${printableLine(path ?? '')}`,
      clean: `${printableLine(branch)} does not conflict any more; nothing was begun`,
      proposed: `the resolved merge is proposed\n${changeLine(change, context.colours)}`,
    }[outcome];
    const conflicts = files.length === 0 ? [] : ['in conflict:', ...files.map((file) => `  ${printableLine(file)}`)];
    const steps = next.length === 0 ? [] : ['next:', ...next.map((step) => `  ${printableLine(step)}`)];
    return [said, ...conflicts, ...steps].join('\n');
  });
  return 0;
}

/** Sends a word about a change that may be said twice, and shows how the change is then. */
async function tell(context: CommandContext, ask: (client: Client) => Promise<ChangeAnswer>): Promise<number> {
  return answerWith(context, await untilAnswered(context.home, ask));
}

/** The answer, and an exit code that says whether a person has to act. Only of a merge is it too little to be ready. */
function answerWith(context: CommandContext, answer: ChangeAnswer, note?: string): number {
  const more = note === undefined ? '' : `\n${printableLine(note)}`;
  context.answer('change', answer, () => `${textOf(answer.change, context)}${more}`);
  const { needsPerson, state } = answer.change;
  return needsPerson && (state !== 'ready' || note !== undefined) ? errorCodes.needs_input.exit : 0;
}

function textOf(change: ChangeView, { colours }: CommandContext): string {
  const next = nextOf(change);
  return `${changeLine(change, colours)}${next === null ? '' : `\n${colours.dim(next)}`}`;
}

function said(what: string, text: string): string {
  if (text.trim() === '') throw new PawlError('usage', `${what} is empty.`);
  return text;
}
