import type { ReplyBody } from '@pawl/protocol/agents/verb-view';
import { PawlError } from '@pawl/schema/error';
import type { Agent } from '@pawl/schema/record';
import { agentById, updateAgent } from '@pawl/store/agents/agents';
import type { SessionPlatform } from '../accounts/session-platform.ts';
import type { Reconciler } from '../sessions/reconcile/reconciler.ts';
import { interrupt, pause, proceed } from './signals/halt.ts';
import type { ResumeOptions } from './signals/resume.ts';
import { resume } from './signals/resume.ts';
import type { SignalParts } from './signals/signal-parts.ts';
import { cancel, runToCancel, stop, stopAll } from './signals/stop.ts';
import { reply, tell } from './signals/tell.ts';

type Asked = { by: string; key: string | undefined };

export type Signals = ReturnType<typeof createSignals>;

/** The signals of one daemon, each to a run, a session or an agent as the process model defines. */
export function createSignals(platform: SessionPlatform, reconciler: Reconciler) {
  const parts: SignalParts = { platform, reconciler };
  return {
    stop: (agentId: string) => stop(parts, agentId),
    stopAll: () => stopAll(parts),
    resume: (agentId: string, prompt: string | undefined, key: string | undefined, options: ResumeOptions = {}) =>
      resume(parts, agentId, prompt, key, options),
    tell: (agentId: string, message: string, asked: Asked) => tell(parts, agentId, message, asked),
    reply: (agentId: string, body: ReplyBody, asked: Asked) => reply(parts, agentId, body, asked),
    pause: (agentId: string) => pause(parts, agentId),
    proceed: (agentId: string) => proceed(parts, agentId),
    interrupt: (agentId: string) => interrupt(parts, agentId),
    cancel: (runId: string, detail?: string) => cancel(parts, runId, detail),
    runToCancel: (reference: string, find: (reference: string) => Promise<Agent>) =>
      runToCancel(parts, reference, find),
    reap: (agentId: string) => reap(parts, agentId),
  };
}

/** Hides a dead agent. Its row and its history stay. */
async function reap({ platform }: SignalParts, agentId: string): Promise<void> {
  await platform.store.write(async (tx) => {
    const agent = await agentById(tx.db, agentId);
    if (agent === null || agent.reapedAt !== null) return;
    if (agent.endedAt === null) {
      throw new PawlError('conflict', `${agent.alias} is alive; only dead agents can be reaped.`, {
        hint: `Kill it first: pawl kill ${agent.alias}`,
      });
    }
    await updateAgent(tx, agentId, { reapedAt: tx.now });
    tx.emit({ type: 'agent.reaped', projectId: agent.projectId, agentId, data: { alias: agent.alias } });
  });
}
