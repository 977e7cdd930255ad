import { judgeRestart, restartNotice } from '@pawl/core/supervision/restart';
import { isPassing, messageOf } from '@pawl/schema/error';
import type { Agent } from '@pawl/schema/record';
import type { AgentFacts } from '@pawl/schema/agent/agent-facts';
import { agentView } from '@pawl/store/agents/agent-views';
import { countFailures, failedPersistentAgents } from '@pawl/store/agents/health';
import { hasConversation } from '../mail/resumable.ts';
import type { Signals } from '../agents/signals.ts';
import type { DefinitionPlatform } from '../definitions/definition-platform.ts';
import { markStuck } from './stuck.ts';

const hourMs = 60 * 60_000;

/** Restarts crashed persistent agents, a bounded number of times. */
export async function restartCrashed(
  platform: DefinitionPlatform,
  { signals }: { signals: Pick<Signals, 'resume'> },
  now: number,
): Promise<void> {
  const { db } = platform.store;

  async function restart({ agent, run }: AgentFacts, attempt: number): Promise<void> {
    if (run === null) return;
    const reason = run.detail ?? '';
    const event = { type: 'agent.restarted', projectId: agent.projectId, agentId: agent.id } as const;
    try {
      // The failed run is the key, so that a crash here restarts it only once.
      await signals.resume(agent.id, restartNotice(agent, run), `restart:${run.id}`, {
        told: { ...event, data: { attempt, reason } },
      });
    } catch (error) {
      if (isPassing(error)) throw error;
      await giveUp(agent, `it crashed and could not be restarted: ${messageOf(error)}`);
    }
  }

  async function giveUp({ id }: Agent, reason: string): Promise<void> {
    await platform.store.write(async (tx) => {
      const facts = await agentView(tx.db, id);
      if (facts?.run?.outcome === 'failed') await markStuck(tx, facts, reason);
    });
  }

  for (const id of await failedPersistentAgents(db)) {
    const view = await agentView(db, id);
    if (view === null) continue;
    const failures = await countFailures(db, id, now - hourMs);
    const verdict = judgeRestart(
      { ...view, failures, resumable: await hasConversation(platform, db, view.agent) },
      now,
    );
    if (verdict.do === 'restart') await restart(view, verdict.attempt);
    if (verdict.do === 'give-up') await giveUp(view.agent, verdict.reason);
  }
}
