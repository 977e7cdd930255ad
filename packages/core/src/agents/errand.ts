import { PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import type { Agent, Run, Session } from '@pawl/schema/record';
import { deriveStatus } from './status.ts';

type Facts = { agent: Agent; run: Run | null; session: Session | null };

/** Refuses a description that is not one short line. */
export function checkErrand(description: string): void {
  if (description.length <= limits.errandCharacters && !/[\r\n]/.test(description)) return;
  throw new PawlError('invalid_input', `An errand is one line of at most ${limits.errandCharacters} characters.`, {
    hint: 'Send the rest with `pawl errand send`, or use `pawl work` for something larger.',
  });
}

export function refuseOther(agent: Agent): void {
  if (agent.mode === 'errand') return;
  throw new PawlError('conflict', `${agent.alias} is not an errand.`, { hint: 'See `pawl errand ls`.' });
}

/** States in which an errand takes a message. */
const hearing: readonly string[] = ['starting', 'running', 'idle'];

/** Refuses a message to an errand that cannot take it: it must be running or idle, with a conversation to resume. */
export function refuseUntellable(facts: Facts): void {
  const { agent, session } = facts;
  refuseOther(agent);
  refuseDead(agent);
  const { activity } = deriveStatus(facts);
  if (!hearing.includes(activity)) {
    throw new PawlError('conflict', `${agent.alias} is ${activity}, so it cannot take a message.`, {
      hint:
        activity === 'waiting_for_input'
          ? `Answer its questions: pawl reply ${agent.alias}`
          : `Resume it: pawl resume ${agent.alias} "…"`,
    });
  }
  if (session?.providerSessionId) return;
  throw new PawlError('conflict', `${agent.alias} has no conversation to resume yet.`, {
    hint: `Wait until it has started: pawl logs -f ${agent.alias}`,
  });
}

/** Refuses to end an errand with an open run or session. */
export function refuseBusy({ agent, run, session }: Facts): void {
  const rests = run?.outcome !== null && (session === null || session.endedAt !== null);
  if (rests) return;
  throw new PawlError('busy', `${agent.alias} is at work.`, {
    hint: `Wait until it is done, or stop it first: pawl stop ${agent.alias}`,
  });
}

export function refuseDead(agent: Agent): void {
  if (agent.endedAt === null) return;
  throw new PawlError('conflict', `The errand ${agent.alias} has ended: ${agent.endReason ?? 'killed'}.`, {
    hint: `Its branch ${agent.branch ?? ''} is kept; merge it by hand, or start another errand.`,
  });
}
