import { PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import type { Mail, MailStatus } from '@pawl/schema/mail';
import type { Agent } from '@pawl/schema/record';

/** The status of a mail. A dead letter stays pending. */
export function statusOfMail({ deliveredAt, readAt, ackedAt }: Mail): MailStatus {
  if (ackedAt !== null) return 'acked';
  if (readAt !== null) return 'read';
  return deliveredAt === null ? 'pending' : 'delivered';
}

/** The agent fields that decide who may write to whom. */
export type Correspondent = Pick<
  Agent,
  'id' | 'alias' | 'kind' | 'parentId' | 'supervisorId' | 'projectId' | 'endedAt' | 'adopted'
> & {
  /** The ids of its further projects. */
  alsoIn?: readonly string[];
};

/**
 * Decides who may write to whom. Agent 0 stands for the person. Agents write within their projects, or to their parent
 * or child.
 *   from \ to   main   own subagent   another's subagent   parent   person   everybody
 *   main        yes    yes            no                   yes      yes      yes
 *   subagent    no     –              no                   yes      no*      no
 *   person      yes    no             no                   –        –        yes
 * (* unless the person is its parent.) Mail to a dead agent, to oneself or into another project is refused. An adopted
 * agent is a main that fetches its mail.
 */
export function refuseMail(from: Correspondent, to: Correspondent): void {
  if (from.id === to.id) throw new PawlError('invalid_input', 'You cannot write to yourself.');
  if (to.endedAt !== null) {
    throw new PawlError('conflict', `The agent ${to.alias} is dead, so it gets no mail.`, {
      hint: 'See `pawl ps` for living agents.',
    });
  }
  if (!isPerson(from) && !isPerson(to) && !shareProject(from, to) && !isParent(from, to) && !isParent(to, from))
    throw new PawlError('forbidden', `${to.alias} belongs to another project.`);
  if (from.kind === 'subagent') {
    if (!worksFor(from, to)) throw subagentTalk(to);
    return;
  }
  if (to.kind === 'main') return;
  if (isPerson(from)) {
    throw new PawlError('invalid_input', `${to.alias} is a subagent: it works for an agent, not for a person.`, {
      hint: 'Write to the agent that it works for; see `pawl ps --tree`.',
    });
  }
  if (worksFor(to, from)) return;
  throw new PawlError('forbidden', `${to.alias} is the subagent of another agent.`);
}

/**
 * The recipients of mail to everybody: each living main of the sender's project that Pawl started, except the sender.
 */
export function everybody<Other extends Correspondent>(from: Correspondent, others: Other[]): Other[] {
  if (from.kind === 'subagent') throw subagentTalk(null);
  return others.filter(
    (other) =>
      other.id !== from.id &&
      other.kind === 'main' &&
      other.endedAt === null &&
      other.parentId !== null &&
      other.adopted === null &&
      (isPerson(from) || shareProject(from, other)),
  );
}

/** Refuses mail from a subagent to anybody but its main. */
function subagentTalk(to: Correspondent | null): PawlError {
  const message =
    to?.kind === 'subagent'
      ? 'Subagents do not talk to each other; write to your parent.'
      : 'A subagent talks to its parent only; write to your parent.';
  return new PawlError('forbidden', message, { hint: 'pawl send parent "…"' });
}

/** Validates the body of a mail; returns its length in bytes. */
export function checkBody(body: string): number {
  const bytes = new TextEncoder().encode(body).length;
  if (body.trim() === '') throw new PawlError('invalid_input', 'The mail is empty.');
  if (body.includes('\0')) throw new PawlError('invalid_input', 'The mail contains a NUL character.');
  if (bytes <= limits.mailSpillBytes) return bytes;
  throw new PawlError('too_large', `A mail may have at most ${limits.mailSpillBytes} bytes; this one has ${bytes}.`, {
    hint: 'Put it into a file, commit it, and name the file.',
  });
}

/** True for agent 0, whom a person acts as. */
export function isPerson({ parentId }: Pick<Agent, 'parentId'>): boolean {
  return parentId === null;
}

/** Whether two agents share a project; agents without a project share that. */
function shareProject(one: Correspondent, other: Correspondent): boolean {
  const projects = [one.projectId, ...(one.alsoIn ?? [])];
  return [other.projectId, ...(other.alsoIn ?? [])].some((project) => projects.includes(project));
}

/** Parent and child may have different projects: an agent without one may fork a child into a repository. */
function isParent(parent: Correspondent, child: Correspondent): boolean {
  return child.parentId === parent.id || child.supervisorId === parent.id;
}

function worksFor(subagent: Correspondent, main: Correspondent): boolean {
  return main.id === (subagent.supervisorId ?? subagent.parentId);
}
