import { PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import type { Agent, ProviderResult } from '@pawl/schema/record';
import type { Signal } from '@pawl/schema/signal';
import { cutText, firstLine } from '../shorten.ts';

/** What an agent says when it is done for good: what came of its work, and, where it failed, why. */
export type LastWord = { summary: string | null; failure: string | null };

/** A last word as somebody gave it; what says nothing is none. */
export function lastWord(given: { summary?: string | undefined; failure?: string | undefined }): LastWord {
  if (given.failure?.trim() === '') throw new PawlError('invalid_input', 'The reason for the failure is empty.');
  return { summary: checkWord('summary', given.summary), failure: checkWord('failure', given.failure) };
}

function checkWord(what: string, given: string | undefined): string | null {
  const text = given?.trim() ?? '';
  if (text.includes('\0')) throw new PawlError('invalid_input', `The ${what} contains a NUL character.`);
  if (text.length <= limits.taskSummaryCharacters) return text === '' ? null : text;
  throw new PawlError('too_large', `The ${what} has at most ${limits.taskSummaryCharacters} characters.`, {
    hint: 'Commit the rest as a file, and name that file.',
  });
}

/**
 * Whether an agent may say that it is done: `new` is to be written down, `known` was said before. Whoever is there for
 * good is never done, an errand is over when a person has decided, and nobody speaks for the dead or for a foreign process.
 */
export function admitCompletion(agent: Agent, said: LastWord): 'new' | 'known' {
  const { alias, completion } = agent;
  if (completion !== null) {
    const isSame =
      said.failure === completion.failure && (said.summary === null || said.summary === completion.summary);
    if (isSame) return 'known';
    throw new PawlError('conflict', `${alias} has completed before, with other words.`, {
      hint: `What it said then counts; see: pawl inspect ${alias}`,
    });
  }
  if (agent.parentId === null) throw new PawlError('forbidden', 'Agent 0 is you; it never completes.');
  if (agent.adopted !== null) {
    throw new PawlError('conflict', `${alias} was not started by Pawl, which only looks at it.`);
  }
  if (agent.endedAt !== null) {
    throw new PawlError('conflict', `The agent ${alias} is dead.`, { hint: 'See `pawl ps` for those that live.' });
  }
  if (agent.class === 'persistent') {
    throw new PawlError('conflict', `${alias} is there for good (its class is persistent), so it never completes.`, {
      hint: `It rests when it has nothing to do. To end it: pawl kill ${alias}`,
    });
  }
  if (agent.mode !== 'errand') return 'new';
  throw new PawlError('conflict', `${alias} is an errand: a person decides when it is over.`, {
    hint: `Give your signal instead. A person then uses: pawl errand merge ${alias}, or abandon`,
  });
}

/** Refuses what would let an agent go on that has said that it is done. */
export function refuseAfterCompletion({ alias, completion }: Pick<Agent, 'alias' | 'completion'>): void {
  if (completion === null) return;
  throw new PawlError('conflict', `${alias} has completed, so it does not go on.`, {
    hint: 'Start another agent with what is left: pawl work "…"',
  });
}

/** Somebody who may be told, with the role that their definition gives them. */
export type Colleague = { agent: Agent; role: string | null };

/**
 * Who hears that an agent is done, each once: `parent` is who looks after it, any other word everybody with that role.
 * Where there is nobody of those that are named, who looks after it hears it all the same: else nobody would.
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

/** Whether somebody will still read what is sent to them. */
export function hears({ endedAt, completion, adopted }: Agent): boolean {
  return endedAt === null && completion === null && adopted === null;
}

/** How much of a task a notice names. */
const taskCharacters = 160;

/** What those who hear of it are told. What they can do about it comes first: a long summary is cut at its end. */
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
    /** False when its definition keeps it from proposing what it committed. */
    mayPropose?: boolean;
    /** The change is merged when its checks pass, without a person's request. */
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

/** What those are told who had heard that an agent is done, when it is not. */
export function withdrawalText({ alias }: Pick<Agent, 'alias'>): string {
  return `${alias} has not completed after all: it has asked a person a question, and goes on when that is answered.\nNext: leave its branch as it is; you hear from it when it completes.`;
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
  const history = `what it did is in \`pawl history ${alias}\``;
  if (failure !== null) return `decide who takes it up, with what is on its branch or anew; ${history}.`;
  if (commits === 0) return `nothing is left to be merged; ${history}.`;
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
  return `see that its branch is looked at and merged; it ends now, and ${history}.`;
}

/** A last word as the signal that it stands in for, where the agent has left no other. */
export function signalOfCompletion(completion: LastWord | null, result: ProviderResult | null = null): Signal | null {
  if (completion === null) return null;
  if (completion.failure !== null) return { status: 'error', error: completion.failure };
  // Without a summary, what the agent said last says more than nothing.
  const text = completion.summary ?? (result?.ok === true ? result.text : '');
  return { status: 'done', result: text };
}

/** Why an agent ended that had said that it is done, in a few words. */
export function endReasonOf({ failure }: LastWord): string {
  return failure === null ? 'completed' : cutText(`failed: ${failure}`, limits.labelCharacters);
}
