import type { Client } from '@pawl/protocol/client';
import type { Merging } from '@pawl/protocol/view';
import { shortCommit } from '../view/change-text.ts';
import type { ConfigCommit } from './commit-config.ts';
import type { CommandContext } from '../context.ts';
import type { Person } from '../agent/person.ts';
import { agrees } from '../agent/person.ts';
import { printableLine } from '../terminal/terminal.ts';

/** The person at the terminal, where a command may ask; null with --json, --quiet, or without a terminal. */
export function askable({ json, quiet }: CommandContext, person: Person): Person | null {
  return json || quiet || !person.present ? null : person;
}

/** Asks whether changes are merged by themselves. Without an answer they are not. */
export async function wantsAutoMerge(person: Person | null): Promise<boolean> {
  if (person === null) return false;
  return agrees(await person.ask('Merge changes by themselves as soon as their checks pass? [y/N] '));
}

/** Allows the push of what is merged by itself: because an option said so, or because the person says yes. */
export async function settlePush(
  client: Client,
  { remote, branch, pushAllowed }: Merging,
  { root, wanted, person }: { root: string; wanted: boolean; person: Person | null },
): Promise<boolean> {
  if (remote === null || pushAllowed) return false;
  const place = `${remote.name} (${printableLine(remote.url)})`;
  const question = `Push ${branch} to ${place} when a change is merged by itself? [y/N] `;
  if (!wanted && (person === null || !agrees(await person.ask(question)))) return false;
  await client.allowPush({ path: root });
  return true;
}

/** Says what is merged and pushed by itself, and what a person has to do first; `elsewhere` is the directory to do it in, if that is not theirs. */
export function tellMerging(merging: Merging, committed: ConfigCommit | null, elsewhere: string | null): string[] {
  const isAsked = merging.outcome === 'nothing' || merging.outcome === 'checked';
  return [
    ...(isAsked ? ['nothing is merged or pushed by itself'] : []),
    `when an agent is done: ${printableLine(merging.text)}`,
    ...(committed === null ? [] : [tellCommit(committed)]),
    ...(merging.notCommitted === null
      ? []
      : [
          `first${elsewhere === null ? '' : `, in ${printableLine(elsewhere)}`}: ${printableLine(merging.notCommitted)}`,
        ]),
  ];
}

function tellCommit({ created, commit, branch }: ConfigCommit): string {
  return `.pawl/config.yaml is committed on ${printableLine(branch)}${created ? ` as ${shortCommit(commit)}` : ' already'}`;
}
