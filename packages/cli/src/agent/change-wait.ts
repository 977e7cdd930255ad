import { printableLine } from '@pawl/present/text';
import type { ChangeView, LocalBranch } from '@pawl/protocol/changes/view';
import type { Client } from '@pawl/protocol/client';
import { errorCodes, PawlError } from '@pawl/schema/error';
import { commandClient } from '../daemon/client.ts';
import type { CommandContext } from '../context.ts';

/** Poll interval; each poll is one read of the daemon. */
export const usualLookMs = 500;

/** Explains the wait while the daemon is down. Does not start it: a person may have stopped it. */
export const daemonAway = 'the daemon is down; this continues when it is up again: pawl up';

/** Failed polls before the daemon counts as down; a restart takes fewer. */
const quietLooks = 4;

/** The change to poll, and the condition that ends the wait. */
export type Look<T> = {
  /** Reads the current state; waits for a restarting daemon. */
  read(client: Client): Promise<T>;
  /** Progress text; repeated text is printed once. */
  words(seen: T): string;
  /** The exit code once it is over, else null. */
  verdict(seen: T): number | null;
};

export type Waited<T> = { seen: T; code: number };
/** The timeout, null for none, and the poll interval. */
export type Patience = { timeoutMs: number | null; lookMs: number };

/** Polls until something is over or the time is up, and prints changes. */
export async function watch<T>(
  context: CommandContext,
  first: T,
  look: Look<T>,
  { timeoutMs, lookMs }: Patience,
): Promise<Waited<T>> {
  const deadline = timeoutMs === null ? Number.POSITIVE_INFINITY : performance.now() + timeoutMs;
  let seen = first;
  let said = '';
  let missed = 0;
  for (;;) {
    const code = look.verdict(seen);
    if (code !== null) return { seen, code };
    const words = missed >= quietLooks ? daemonAway : look.words(seen);
    if (words !== said) context.say(context.colours.dim(words));
    said = words;
    const leftMs = deadline - performance.now();
    if (leftMs <= 0) return { seen, code: errorCodes.timeout.exit };
    await new Promise((resolve) => setTimeout(resolve, Math.min(lookMs, leftMs)));
    const answer = await unlessAway(look.read(commandClient(context.home)).then((now) => ({ now })));
    missed = answer === null ? missed + 1 : 0;
    seen = answer === null ? seen : answer.now;
  }
}

async function unlessAway<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof PawlError && error.code === 'daemon_unreachable') return null;
    throw error;
  }
}

/** Waits until a change is merged, ejected or closed, or needs a person. */
export async function watchChange(
  context: CommandContext,
  change: ChangeView,
  patience: Patience,
): Promise<Waited<ChangeView>> {
  const look: Look<ChangeView> = {
    read: async (client) => (await client.showChange(change.id)).change,
    words: ({ state, detail }) => (detail === '' ? state : `${state}: ${printableLine(detail)}`),
    verdict: codeOf,
  };
  return watch(context, change, look, patience);
}

/** The exit code for a change's state, or null while it can continue by itself. */
function codeOf(change: ChangeView): number | null {
  if (change.state === 'merged') return 0;
  if (change.state === 'ejected' || change.state === 'closed') return 1;
  if (change.state === 'needs-human-input' || change.needsPerson) return errorCodes.needs_input.exit;
  // Its author is woken to address a comment; a hold or missing checks need a person.
  const isAuthors = change.hold === null && change.blocking > 0 && change.author !== null;
  return change.state === 'blocked' && !isAuthors ? errorCodes.needs_input.exit : null;
}

/** How long to wait for a merge to reach the person's own branch: one queue pass. */
const followMs = 30_000;

/** Waits until the local branch has followed a merge, or cannot; null if unknown. */
export async function watchLocal(
  context: CommandContext,
  changeId: string,
  { timeoutMs, lookMs }: Patience,
): Promise<LocalBranch | null> {
  const look: Look<LocalBranch | null> = {
    read: async (client) => (await client.showChange(changeId)).local ?? null,
    words: (local) => `merged; local ${printableLine(local?.branch ?? 'main')} follows`,
    verdict: (local) => (local?.state === 'pending' ? null : 0),
  };
  const read = look.read(commandClient(context.home)).then((local) => ({ local }));
  const away: LocalBranch = { branch: 'main', state: 'pending', reason: null };
  const { local: first } = (await unlessAway(read)) ?? { local: away };
  const patience = { timeoutMs: Math.min(timeoutMs ?? followMs, followMs), lookMs };
  return (await watch(context, first, look, patience)).seen;
}

/** Says that the local branch lacks the merge; null if it has it. */
export function behindLine(local: LocalBranch | null): string | null {
  if (local === null || local.state === 'followed') return null;
  const branch = printableLine(local.branch);
  if (local.state === 'pending') return `local ${branch} has not followed yet; see \`pawl queue\``;
  return `local ${branch} stays behind: ${printableLine(local.reason ?? '')}`;
}
