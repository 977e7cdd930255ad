import { resolveAgent } from '@pawl/core/agents/resolve';
import { openRepository } from '@pawl/git/repository/repository';
import { PawlError } from '@pawl/schema/error';
import type { Mail } from '@pawl/schema/mail';
import type { Agent } from '@pawl/schema/record';
import { agentById, findAgents } from '@pawl/store/agents/agents';
import { json, text } from '@pawl/store/facts/fact-column';
import { factTable } from '@pawl/store/facts/fact-table';
import { findMail, mailById } from '@pawl/store/mail/mail';
import { projectByRoot } from '@pawl/store/projects/projects';
import type { Database } from '@pawl/store/tables';
import * as z from 'zod';
import { agentIn } from '../platform/places.ts';
import { primaryFor } from './primary.ts';

/** The caller: an agent, or a person, who has agent 0's mailbox and may read all others. */
export type MailCaller = { agent: Agent; isPerson: boolean };

/** The order of an agent's last fetch, so that a number means the same mail until the next one. */
export const mailOrders = factTable('mail_orders', ['agentId'], {
  agentId: text,
  mailIds: json(z.array(z.string()).catch([])),
});
const isNumber = (reference: string) => /^[1-9]\d{0,2}$/.test(reference);

/** Finds the agent that a caller names. Prefers the caller's own project, so shared aliases stay unambiguous. */
export async function findRecipient(db: Database, caller: Agent, word: string): Promise<Agent> {
  if (word === 'parent' && caller.parentId !== null) {
    const parent = await agentById(db, caller.supervisorId ?? caller.parentId);
    if (parent !== null) return parent;
  }
  if (word === 'primary' && caller.projectId !== null) return primaryFor(db, caller);
  const own =
    caller.projectId === null ? [] : await findAgents(db, word, { projectId: caller.projectId, prefixOf: 'living' });
  const found = own.length > 0 ? own : await findAgents(db, word, { prefixOf: 'living' });
  // Of several dead agents with one alias take the latest, so that the refusal says that it is dead, not that it is
  // ambiguous.
  return resolveAgent(word, found.every(({ endedAt }) => endedAt !== null) ? found.slice(0, 1) : found);
}

/** The project whose agents a caller writes to. */
export async function projectFor(db: Database, caller: MailCaller, path: string | undefined): Promise<string> {
  if (!caller.isPerson && caller.agent.projectId !== null && path === undefined) return caller.agent.projectId;
  if (path === undefined) {
    throw new PawlError('invalid_input', 'No project given.', {
      hint: 'Run this inside a project, or name it with -C.',
    });
  }
  const { root } = await openRepository(path);
  const project = await projectByRoot(db, root);
  if (project === null) {
    throw new PawlError('project_not_found', `${root} is not a project yet.`, {
      hint: 'Run `pawl init` there first.',
    });
  }
  if (caller.isPerson || (await agentIn(db, caller.agent, project.id)) !== null) return project.id;
  throw new PawlError('forbidden', 'Agents may only write to their own project.');
}

/** Finds a mail by its id, an id prefix, or its number in the caller's last fetch. */
export async function mailFor(db: Database, caller: MailCaller, reference: string): Promise<Mail> {
  const found = isNumber(reference) ? await numbered(db, caller, Number(reference)) : await findMail(db, reference);
  const [mail, ...others] = found.filter((each) => caller.isPerson || isSide(caller.agent, each));
  if (mail !== undefined && others.length === 0) return mail;
  const shown = JSON.stringify(reference.slice(0, 80));
  if (mail !== undefined) {
    throw new PawlError('ambiguous', `${shown} matches more than one mail.`, {
      hint: 'Give more characters of the id.',
    });
  }
  // Admit that a mail exists only to a caller with its whole id, not for a prefix.
  if (found.some(({ id }) => id === reference)) throw foreignMail();
  throw new PawlError('not_found', `There is no mail ${shown}.`, {
    hint: 'See `pawl mail`; its id, the first 4 or more characters of it, or its number there will do.',
  });
}

async function numbered(db: Database, caller: MailCaller, number: number): Promise<Mail[]> {
  const order = await mailOrders.get(db, { agentId: caller.agent.id });
  const id = order?.mailIds[number - 1];
  const mail = id === undefined ? null : await mailById(db, id);
  return mail === null ? [] : [mail];
}

function isSide(agent: Agent, { fromId, toId }: Mail): boolean {
  return agent.id === fromId || agent.id === toId;
}

export function foreignMail(): PawlError {
  return new PawlError('forbidden', 'This mail belongs to another agent.', {
    hint: 'Only its recipient can acknowledge a mail.',
  });
}
