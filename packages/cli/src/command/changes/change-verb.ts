import { printableLine } from '@pawl/present/text';
import type { ChangeAnswer, ChangeView } from '@pawl/protocol/changes/view';
import type { Client } from '@pawl/protocol/client';
import { errorCodes, PawlError } from '@pawl/schema/error';
import { changeLine, nextOf, shortCommit, shortId } from '../../view/change-text.ts';
import { behindLine, usualLookMs, watchChange, watchLocal } from '../../agent/change-wait.ts';
import type { CommandContext } from '../../context.ts';
import { withDaemon } from '../../daemon/launch.ts';
import { untilAnswered } from '../../daemon/resend.ts';
import { readText } from '../../terminal/standard-input.ts';
import type { ProjectOption } from '../../project/project-option.ts';
import { projectPath } from '../../project/project-option.ts';

/** Approves a change's effect on the gate, for the current head or the given one; for people only. */
export async function approveChange(
  context: CommandContext,
  reference: string,
  options: ProjectOption & { head?: string },
): Promise<number> {
  const body = options.head === undefined ? {} : { head: options.head };
  return tell(context, (client) => client.approveChange(reference, body, projectPath(options)));
}

/** Blocks a change, with a reason. */
export async function blockChange(
  context: CommandContext,
  reference: string,
  options: ProjectOption & { reason: string },
): Promise<number> {
  const reason = said('The reason', options.reason);
  return tell(context, (client) => client.blockChange(reference, { reason }, projectPath(options)));
}

/** Unblocks a change. */
export async function unblockChange(
  context: CommandContext,
  reference: string,
  options: ProjectOption,
): Promise<number> {
  return tell(context, (client) => client.unblockChange(reference, projectPath(options)));
}

/** Retries a change. */
export async function retryChange(context: CommandContext, reference: string, options: ProjectOption): Promise<number> {
  return tell(context, (client) => client.retryChange(reference, projectPath(options)));
}

/** Comments on a change, or marks a comment as addressed. Not idempotent: not repeated after a lost answer. */
export async function commentChange(
  context: CommandContext,
  reference: string,
  text: string,
  options: ProjectOption & { addresses?: string },
): Promise<number> {
  const body = {
    body: said('The comment', text === '-' ? await readText() : text),
    ...(options.addresses === undefined ? {} : { addresses: options.addresses }),
  };
  const answer = await withDaemon(context.home, (client) =>
    client.commentChange(reference, body, projectPath(options)),
  );
  const { change, comment } = answer;
  context.answer('comment', answer, () => {
    const what = comment.kind === 'blocking' ? 'commented; it blocks until it is addressed' : 'commented';
    const done =
      options.addresses === undefined ? '' : `, and ${shortId(printableLine(options.addresses))} is addressed`;
    return `${what}${done} (${shortId(comment.id)})\n${changeLine(change, context.colours)}`;
  });
  return 0;
}

/** Closes a change, with what the next attempt should know. */
export async function closeChange(
  context: CommandContext,
  reference: string,
  options: ProjectOption & { reason: string; learnings?: string },
): Promise<number> {
  const learnings = options.learnings === '-' ? await readText() : options.learnings;
  const body = {
    reason: said('The reason', options.reason),
    ...(learnings === undefined ? {} : { learnings: said('The text of --learnings', learnings) }),
  };
  const closed = await withDaemon(context.home, (client) => client.closeChange(reference, body, projectPath(options)));
  context.answer('change', closed, () => {
    const kept = closed.learnings === null ? '' : `\nlearnings are kept: ${printableLine(closed.learnings)}`;
    return `${changeLine(closed.change, context.colours)}${kept}`;
  });
  return 0;
}

/** Requests the merge of a change when its checks pass, and says where to. With `wait`, stays until that is decided. */
export async function mergeChange(
  context: CommandContext,
  reference: string,
  options: ProjectOption & { wait?: boolean; fix?: boolean; timeout?: number },
  lookMs = usualLookMs,
): Promise<number> {
  const body = options.fix ? { fix: true } : {};
  const queued = await untilAnswered(context.home, (client) =>
    client.mergeChange(reference, body, projectPath(options)),
  );
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

/** Starts resolving a change's conflict in a worktree, or commits and proposes the resolution. */
export async function fixChange(
  context: CommandContext,
  reference: string,
  options: ProjectOption & { continue?: boolean },
): Promise<number> {
  const body = options.continue ? { proceed: true } : {};
  const fix = await untilAnswered(context.home, (client) => client.fixChange(reference, body, projectPath(options)));
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

/** Sends an idempotent verb for a change, and shows its new state. */
async function tell(context: CommandContext, ask: (client: Client) => Promise<ChangeAnswer>): Promise<number> {
  return answerWith(context, await untilAnswered(context.home, ask));
}

/** The answer, and an exit code that says whether a person must act. After `merge`, "ready" means that. */
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
