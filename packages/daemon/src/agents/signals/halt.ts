import { refuseAdopted } from '@pawl/core/agents/adopted';
import { continueSession, haltSession } from '@pawl/host/session/halt-session';
import { interruptSession } from '@pawl/host/session/interrupt-session';
import { crashPoint } from '@pawl/schema/crash-point';
import { PawlError } from '@pawl/schema/error';
import { agentById } from '@pawl/store/agents/agents';
import { updateSession } from '@pawl/store/sessions/sessions';
import { addressOf } from '../../platform/platform.ts';
import type { RunningFacts } from '../../sessions/reconcile/reconciler.ts';
import type { SignalParts } from './signal-parts.ts';

/** Pauses an agent's processes. Records the request first, so that the next daemon completes it after a crash. */
export async function pause(parts: SignalParts, agentId: string): Promise<void> {
  const { platform } = parts;
  await toSession(parts, agentId, async ({ agent, session }) => {
    await platform.store.write(async (tx) => {
      if (session.pausedAt !== null) return;
      await updateSession(tx, session.id, { pausedAt: tx.now });
      tx.emit({ type: 'session.paused', projectId: agent.projectId, agentId, data: { no: session.no } });
    });
    crashPoint('pause.after_request');
    await haltSession(platform.host, addressOf(platform.home, session));
  });
}

/** Continues paused processes, and only then clears the request. */
export async function proceed(parts: SignalParts, agentId: string): Promise<void> {
  const { platform } = parts;
  await toSession(parts, agentId, async ({ agent, session }) => {
    await continueSession(platform.host, addressOf(platform.home, session));
    crashPoint('continue.after_processes');
    await platform.store.write(async (tx) => {
      if (session.pausedAt === null) return;
      await updateSession(tx, session.id, { pausedAt: null });
      tx.emit({ type: 'session.continued', projectId: agent.projectId, agentId, data: { no: session.no } });
    });
  });
}

/** Interrupts an agent once; how it reacts is up to the agent. */
export async function interrupt(parts: SignalParts, agentId: string): Promise<void> {
  const { platform } = parts;
  await toSession(parts, agentId, async ({ agent, session }) => {
    if (session.pausedAt !== null) {
      throw new PawlError('conflict', `${agent.alias} is paused, so it cannot react.`, {
        hint: `Continue it first: pawl continue ${agent.alias}`,
      });
    }
    await platform.store.write(async (tx) => {
      await updateSession(tx, session.id, { interruptedAt: tx.now });
      tx.emit({ type: 'session.interrupted', projectId: agent.projectId, agentId, data: { no: session.no } });
    });
    await interruptSession(platform.host, addressOf(platform.home, session));
  });
}

/** Acts on the running session of an agent, or throws if there is none. */
async function toSession(
  { platform, reconciler }: SignalParts,
  agentId: string,
  act: (facts: RunningFacts) => Promise<void>,
): Promise<void> {
  const known = await agentById(platform.store.db, agentId);
  if (known !== null) refuseAdopted(known);
  const done = await reconciler.withSession(agentId, async (facts) => {
    await act(facts);
    return true;
  });
  if (done === null) {
    throw new PawlError('conflict', 'The agent has no process now.', { hint: 'See `pawl ps` for agents that run.' });
  }
}
