import { PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import type { Agent, Run, Session } from '@pawl/schema/record';
import { deriveStatus } from './status.ts';

type Facts = { agent: Agent; run: Run | null; session: Session | null };

/** Refuses a description that is not that of an errand: one line of a few words. */
export function checkErrand(description: string): void {
  if (description.length <= limits.errandCharacters && !/[\r\n]/.test(description)) return;
  throw new PawlError('invalid_input', `An errand is one line of at most ${limits.errandCharacters} characters.`, {
    hint: 'Say the rest with `pawl errand send`, or use `pawl work` for something larger.',
  });
}

/** Refuses an agent that is not an errand. */
export function refuseOther(agent: Agent): void {
  if (agent.mode === 'errand') return;
  throw new PawlError('conflict', `${agent.alias} is not an errand.`, { hint: 'See `pawl errand ls`.' });
}

/** What an errand may be doing when something is said to it. */
const hearing: readonly string[] = ['starting', 'running', 'idle'];

/** Refuses to say something to an errand that cannot hear it: it has to run or to rest, with a conversation to go on with. */
export function refuseUntellable(facts: Facts): void {
  const { agent, session } = facts;
  refuseOther(agent);
  refuseDead(agent);
  const { activity } = deriveStatus(facts);
  if (!hearing.includes(activity)) {
    throw new PawlError('conflict', `${agent.alias} is ${activity}, so it cannot hear.`, {
      hint:
        activity === 'waiting_for_input'
          ? `Answer its questions: pawl reply ${agent.alias}`
          : `Let it go on: pawl resume ${agent.alias} "…"`,
    });
  }
  if (session?.providerSessionId) return;
  throw new PawlError('conflict', `${agent.alias} has no conversation yet that could be gone on with.`, {
    hint: `Wait until it has begun: pawl logs -f ${agent.alias}`,
  });
}

/** Refuses to end an errand that is at work. */
export function refuseBusy({ agent, run, session }: Facts): void {
  const rests = run?.outcome !== null && (session === null || session.endedAt !== null);
  if (rests) return;
  throw new PawlError('busy', `${agent.alias} is at work.`, {
    hint: `Wait until it is done, or stop it first: pawl stop ${agent.alias}`,
  });
}

/** Refuses an errand that is dead. */
export function refuseDead(agent: Agent): void {
  if (agent.endedAt === null) return;
  throw new PawlError('conflict', `The errand ${agent.alias} has ended: ${agent.endReason ?? 'killed'}.`, {
    hint: `Its branch ${agent.branch ?? ''} is kept; merge it by hand, or start another errand.`,
  });
}
