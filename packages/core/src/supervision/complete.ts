import { PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import type { Agent, ProviderResult } from '@pawl/schema/record';
import type { Signal } from '@pawl/schema/signal';
import { cutText, firstLine } from '../shorten.ts';

/** An agent's completion: a summary of its work, and why it failed, if it did. */
export type LastWord = { summary: string | null; failure: string | null };

/** Validates a completion; blank texts become null. */
export function lastWord(given: { summary?: string | undefined; failure?: string | undefined }): LastWord {
  if (given.failure?.trim() === '') throw new PawlError('invalid_input', 'The reason for the failure is empty.');
  return { summary: checkWord('summary', given.summary), failure: checkWord('failure', given.failure) };
}

function checkWord(what: string, given: string | undefined): string | null {
  const text = given?.trim() ?? '';
  if (text.includes('\0')) throw new PawlError('invalid_input', `The ${what} contains a NUL character.`);
  if (text.length <= limits.taskSummaryCharacters) return text === '' ? null : text;
  throw new PawlError('too_large', `The ${what} may have at most ${limits.taskSummaryCharacters} characters.`, {
    hint: 'Commit the rest as a file, and name that file.',
  });
}

/**
 * Whether an agent may complete: `new` must be recorded, `known` was recorded before. A persistent agent never
 * completes, a person ends errands, and dead or adopted agents cannot complete.
 */
export function admitCompletion(agent: Agent, said: LastWord): 'new' | 'known' {
  const { alias, completion } = agent;
  if (completion !== null) {
    const isSame =
      said.failure === completion.failure && (said.summary === null || said.summary === completion.summary);
    if (isSame) return 'known';
    throw new PawlError('conflict', `${alias} has already completed, with another message.`, {
      hint: `The first one counts; see: pawl inspect ${alias}`,
    });
  }
  if (agent.parentId === null) throw new PawlError('forbidden', 'Agent 0 is you; it never completes.');
  if (agent.adopted !== null) {
    throw new PawlError('conflict', `${alias} was not started by Pawl, which only observes it.`);
  }
  if (agent.endedAt !== null) {
    throw new PawlError('conflict', `The agent ${alias} is dead.`, { hint: 'See `pawl ps` for living agents.' });
  }
  if (agent.class === 'persistent') {
    throw new PawlError('conflict', `${alias} is persistent, so it never completes.`, {
      hint: `It goes idle when it has nothing to do. To end it: pawl kill ${alias}`,
    });
  }
  if (agent.mode !== 'errand') return 'new';
  throw new PawlError('conflict', `${alias} is an errand: a person decides when it is over.`, {
    hint: `Give your signal instead. A person then uses: pawl errand merge ${alias}, or abandon`,
  });
}

/** Refuses to continue a completed agent. */
export function refuseAfterCompletion({ alias, completion }: Pick<Agent, 'alias' | 'completion'>): void {
  if (completion === null) return;
  throw new PawlError('conflict', `${alias} has completed, so it cannot continue.`, {
    hint: 'Start another agent for the rest: pawl work "…"',
  });
}

/** A possible recipient, with the role of its definition. */
export type Colleague = { agent: Agent; role: string | null };

/**
 * The recipients of a completion, each once: `parent` is the supervisor, any other word everybody with that role. If
 * nobody matches, the supervisor is told anyway.
 */
export function whoHears(
  agent: Agent,
  notify: readonly string[],
  { supervisor, colleagues }: { supervisor: Agent | null; colleagues: readonly Colleague[] },
): Agent[] {
  const parent = supervisor === null ? [] : [supervisor];
  const named = notify.flatMap((word) =>
    word === 'parent' ? parent : colleagues.filter(({ role }) => role === word).map((each) => each.agent),
  );
  const heard = new Map<string, Agent>();
  for (const each of named) if (each.id !== agent.id && hears(each)) heard.set(each.id, each);
  if (heard.size > 0 || notify.length === 0) return [...heard.values()];
  return parent;
}

/** Whether an agent will still read mail. */
export function hears({ endedAt, completion, adopted }: Agent): boolean {
  return endedAt === null && completion === null && adopted === null;
}

/** How much of a task a notice quotes. */
const taskCharacters = 160;

/** The completion notice. What to do next comes first, since a long summary is cut at its end. */
export function completionText(
  { alias, branch }: Pick<Agent, 'alias' | 'branch'>,
  { summary, failure }: LastWord,
  known: {
    task: string | null;
    commits: number | null;
    /** Its change; one that was never queued is a draft. */
    change?: { id: string; queuedAt: number | null } | null;
    /** Its changes in further projects. */
    others?: readonly { id: string }[];
    /** False if its definition may not propose its commits. */
    mayPropose?: boolean;
    /** The change is merged automatically when its checks pass. */
    mergesByItself?: boolean;
  },
): string {
  const { task, commits, change = null, others = [], mayPropose = true, mergesByItself = false } = known;
  const about = task === null ? '' : `: ${firstLine(task, taskCharacters)}`;
  const lines = [
    failure === null ? `${alias} has completed its task${about}` : `${alias} could not do its task${about}`,
    ...(failure === null ? [] : [`Why: ${failure}`]),
    ...(branch === null ? [] : [`Branch: ${branch}${commits === null ? '' : ` (${commitsInWords(commits)})`}`]),
    ...(change === null ? [] : [`Change: ${[change, ...others].map(({ id }) => id).join(', ')}`]),
    `Next: ${nextInWords(alias, failure, { commits, change, mayPropose, mergesByItself })}`,
    ...(summary === null ? [] : ['', summary]),
  ];
  return lines.join('\n');
}

/** Withdraws a completion notice. */
export function withdrawalText({ alias }: Pick<Agent, 'alias'>): string {
  return `${alias} has not completed after all: it asked a person a question, and continues after the answer.\nNext: leave its branch as it is; it reports to you when it completes.`;
}

function commitsInWords(commits: number): string {
  if (commits === 0) return 'no commits of its own';
  return commits === 1 ? '1 commit of its own' : `${commits} commits of its own`;
}

function nextInWords(
  alias: string,
  failure: string | null,
  given: {
    commits: number | null;
    change: { id: string; queuedAt: number | null } | null;
    mayPropose: boolean;
    mergesByItself: boolean;
  },
): string {
  const { commits, change, mayPropose, mergesByItself } = given;
  const history = `its conversation: \`pawl history ${alias}\``;
  if (failure !== null) return `decide which agent does the task, from its branch or from the start; ${history}.`;
  if (commits === 0) return `nothing is left to merge; ${history}.`;
  if (change !== null && change.queuedAt === null)
    return `its change is a draft, which is checked and merged when a person asks for it (\`pawl change merge ${change.id}\`); ${history}.`;
  if (change !== null) {
    const merged = mergesByItself
      ? `its change is merged when its checks pass (\`pawl change show ${change.id}\`)`
      : `a person merges its change when its checks pass (\`pawl change merge ${change.id}\`)`;
    return `${merged}; ${history}.`;
  }
  if (!mayPropose)
    return `its commits stay on its branch, since the policy of its definition has no Patch; ${history}.`;
  return `have its branch reviewed and merged; it ends now; ${history}.`;
}

/** The signal that a completion stands for, if the agent left no other. */
export function signalOfCompletion(completion: LastWord | null, result: ProviderResult | null = null): Signal | null {
  if (completion === null) return null;
  if (completion.failure !== null) return { status: 'error', error: completion.failure };
  // Without a summary, use the agent's last words.
  const text = completion.summary ?? (result?.ok === true ? result.text : '');
  return { status: 'done', result: text };
}

/** The signal of an agent that ended its work by an outcome, and wrote no other. */
export function signalOfOutcome(result: ProviderResult | null): Signal | null {
  return result?.ok === true && result.outcome !== undefined ? { status: 'done', result: result.text } : null;
}

/** The end reason of a completed agent. */
export function endReasonOf({ failure }: LastWord): string {
  return failure === null ? 'completed' : cutText(`failed: ${failure}`, limits.labelCharacters);
}
