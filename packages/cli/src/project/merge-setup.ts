import { printableLine } from '@pawl/present/text';
import type { Client } from '@pawl/protocol/client';
import type { Merging } from '@pawl/protocol/projects/view';
import { shortCommit } from '../view/change-text.ts';
import type { ConfigCommit } from './commit-config.ts';
import type { CommandContext } from '../context.ts';
import type { Person } from '../agent/person.ts';
import { agrees } from '../agent/person.ts';

/** The person at the terminal, if the command may ask; null with --json, --quiet, or without a terminal. */
export function askable({ json, quiet }: CommandContext, person: Person): Person | null {
  return json || quiet || !person.present ? null : person;
}

/** Asks whether to merge changes automatically. No answer means no. */
export async function wantsAutoMerge(person: Person | null): Promise<boolean> {
  if (person === null) return false;
  return agrees(await person.ask('Merge changes automatically as soon as their checks pass? [y/N] '));
}

/** Allows pushing automatic merges: by an option, or if the person says yes. */
export async function settlePush(
  client: Client,
  { remote, branch, pushAllowed }: Merging,
  { root, wanted, person }: { root: string; wanted: boolean; person: Person | null },
): Promise<boolean> {
  if (remote === null || pushAllowed) return false;
  const place = `${remote.name} (${printableLine(remote.url)})`;
  const question = `Push ${branch} to ${place} after automatic merges? [y/N] `;
  if (!wanted && (person === null || !agrees(await person.ask(question)))) return false;
  await client.allowPush({ path: root });
  return true;
}

/**
 * Says what is merged and pushed automatically, and what a person must do first; `elsewhere` is the directory for that,
 * if it is not the current one.
 */
export function tellMerging(merging: Merging, committed: ConfigCommit | null, elsewhere: string | null): string[] {
  const isAsked = merging.outcome === 'nothing' || merging.outcome === 'checked';
  return [
    ...(isAsked ? ['nothing is merged or pushed automatically'] : []),
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
