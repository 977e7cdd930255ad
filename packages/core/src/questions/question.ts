import type { Definition } from '@pawl/schema/definition';
import { PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import type { Question } from '@pawl/schema/mail';
import type { Agent, Run, Session } from '@pawl/schema/record';
import { checkBody, isPerson } from '../mail/mail.ts';
import { routeOfMail } from '../mail/delivery-route.ts';

/** The facts that decide whether an agent can be asked now. */
export type Asked = {
  agent: Agent;
  run: Run | null;
  session: Session | null;
  /** `pawl resume` would continue it: its provider, worktree and definition exist. */
  resumable: boolean;
  /** For a persistent agent without a run yet: its current definition. */
  first?: Definition | null;
};

/**
 * Why an agent cannot answer, or null if it can: it is working, or idle and a question starts a turn. One that is
 * paused, stopped, failed, completed or waiting for a person would keep the asker waiting.
 */
export function whyNoAnswer(asked: Asked): string | null {
  const { agent, run, session } = asked;
  if (agent.endedAt !== null) return `it is dead (${agent.endReason ?? 'ended'})`;
  if (isPerson(agent)) return null;
  if (agent.adopted !== null) return 'it was not started by Pawl, so nothing makes it answer; send it mail: pawl send';
  if (run !== null && run.outcome === null) {
    if (agent.stopRequestedAt !== null) return 'it is being stopped';
    return session !== null && session.endedAt === null && session.pausedAt !== null ? 'it is paused' : null;
  }
  const route = routeOfMail({ ...asked, listens: false, waiting: [{ kind: 'question', byPerson: false }], wakes: 0 });
  if (route.kind === 'wake') return null;
  return 'why' in route ? route.why : 'it cannot be woken';
}

export function refuseAsked(asked: Asked): void {
  const why = whyNoAnswer(asked);
  if (why === null) return;
  throw new PawlError('conflict', `${asked.agent.alias} cannot answer: ${why}.`, {
    hint: `See \`pawl ps\` for those that can${asked.agent.adopted === null ? '; mail waits for it: pawl send' : ''}.`,
    details: { agentId: asked.agent.id, reason: why },
  });
}

/**
 * Chooses whom to ask: a working agent before an idle one, then the newest; never the asker. `what` names where they
 * were looked for.
 */
export function chooseAsked(from: Agent, candidates: readonly Asked[], what: string): Asked {
  const others = candidates.filter(({ agent }) => agent.id !== from.id && agent.endedAt === null);
  if (others.length === 0) {
    const alone = candidates.some(({ agent }) => agent.id === from.id);
    throw new PawlError(alone ? 'invalid_input' : 'not_found', alone ? selfAsk : `No agent is working on ${what}.`, {
      hint: 'See `pawl ps`, and `pawl task show` for who works on a task.',
    });
  }
  const able = others.filter((each) => whyNoAnswer(each) === null);
  const chosen = able.find(({ run }) => run !== null && run.outcome === null) ?? able[0];
  if (chosen !== undefined) return chosen;
  const reasons = others.map((each) => `${each.agent.alias}: ${whyNoAnswer(each)}`);
  throw new PawlError('conflict', `No agent on ${what} can answer: ${reasons.slice(0, 5).join('; ')}.`, {
    hint: 'See `pawl ps` for those that can.',
  });
}

const selfAsk = 'You cannot ask yourself.';

/** Validates a question, and the number of open ones. */
export function checkQuestion(from: Agent, to: Agent, question: string, open: number): void {
  if (from.id === to.id) throw new PawlError('invalid_input', selfAsk, { hint: 'Name another agent; see `pawl ps`.' });
  checkBody(question);
  if (open < limits.openQuestions) return;
  throw new PawlError('busy', `${from.alias} is already waiting for ${open} answers.`, {
    hint: 'Wait for some of them first.',
  });
}

/** An agent waiting for another's answer. */
type Wait = Pick<Question, 'id' | 'fromId' | 'toId'>;

/**
 * The chain of open questions by which `to` waits for `from`, directly or through others; null if there is none. If
 * `from` asked `to` now, they would deadlock.
 */
export function findCycle<Waiting extends Wait>(open: readonly Waiting[], from: string, to: string): Waiting[] | null {
  const wayTo = new Map<string, Waiting[]>([[to, []]]);
  const reached = [to];
  for (let agent = reached.shift(); agent !== undefined; agent = reached.shift()) {
    const way = wayTo.get(agent) ?? [];
    for (const question of open) {
      if (question.fromId !== agent || wayTo.has(question.toId)) continue;
      const further = [...way, question];
      if (question.toId === from) return further;
      wayTo.set(question.toId, further);
      reached.push(question.toId);
    }
  }
  return null;
}

/** Describes a cycle of questions. */
export function cycleInWords(aliases: readonly string[]): string {
  return `${aliases.join(' asks ')} asks ${aliases[0] ?? ''}: each would wait for the other, so none of these questions is answered`;
}

/** The error for an asker whose question was part of a cycle. */
export function cycleError(aliases: readonly string[]): PawlError {
  return new PawlError('conflict', `${cycleInWords(aliases)}.`, {
    hint: 'Answer the question you were asked first, or write without waiting: pawl send.',
    details: { cycle: [...aliases] },
  });
}
