import type { Client } from '@pawl/protocol/client';
import { commandClient } from '../daemon/client.ts';
import type { ChangeView, LocalBranch } from '@pawl/protocol/view/change';
import { errorCodes, PawlError } from '@pawl/schema/error';
import type { CommandContext } from '../context.ts';
import { printableLine } from '../terminal/terminal.ts';

/** How often it is looked at what somebody waits for: a look is one read of the daemon's. */
export const usualLookMs = 500;

/** Says why nothing happens while the daemon is down. It is not started: a person may have stopped it. */
export const daemonAway = 'the daemon is down; this continues when it is up again: pawl up';

/** Looks without an answer before the daemon counts as down; a restart takes fewer. */
const quietLooks = 4;

/** What is looked at, and when it is over. */
export type Look<T> = {
  /** Reads how it is. A daemon that is away is waited for: it may be restarting. */
  read(client: Client): Promise<T>;
  /** In words, for somebody who looks on; the same words are said once. */
  words(seen: T): string;
  /** The exit code when it is over, else null. */
  verdict(seen: T): number | null;
};

export type Waited<T> = { seen: T; code: number };
/** How long to stay, null for as long as it takes, and how often to look. */
export type Patience = { timeoutMs: number | null; lookMs: number };

/** Looks again and again until something is over, or until time is up, and says what changes on the way. */
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

/** The exit code that a change's state means, or null as long as it can go on by itself. */
function codeOf(change: ChangeView): number | null {
  if (change.state === 'merged') return 0;
  if (change.state === 'ejected' || change.state === 'closed') return 1;
  if (change.state === 'needs-human-input' || change.needsPerson) return errorCodes.needs_input.exit;
  // A comment is addressed by its author, who is woken for it; a hold, or missing checks, are a person's to settle.
  const isAuthors = change.hold === null && change.blocking > 0 && change.author !== null;
  return change.state === 'blocked' && !isAuthors ? errorCodes.needs_input.exit : null;
}

/** How long a merge is waited for to arrive in the person's own branch: as long as the queue needs for its next pass. */
const followMs = 30_000;

/** Waits until the local branch has followed a merge, or it is known that it cannot; null where that cannot be told. */
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

/** Says that the local branch does not have what was merged; null when it has. */
export function behindLine(local: LocalBranch | null): string | null {
  if (local === null || local.state === 'followed') return null;
  const branch = printableLine(local.branch);
  if (local.state === 'pending') return `local ${branch} has not followed yet; see \`pawl queue\``;
  return `local ${branch} stays behind: ${printableLine(local.reason ?? '')}`;
}
