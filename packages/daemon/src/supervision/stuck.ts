import type { Progress } from '@pawl/core/supervision/stuck';
import { loopIn, progressAfter, silenceOf } from '@pawl/core/supervision/stuck';
import { outputParsers } from '@pawl/providers/parser';
import { limits } from '@pawl/schema/limit';
import type { Agent, Message, Run, Session } from '@pawl/schema/record';
import type { AgentFacts } from '@pawl/schema/agent/agent-facts';
import { agentView } from '@pawl/store/agents/agent-views';
import { updateAgent } from '@pawl/store/agents/agents';
import { stuckAgents } from '@pawl/store/agents/health';
import { waitingApprovals } from '@pawl/store/sessions/approvals';
import { lastSessionMessages } from '@pawl/store/sessions/messages';
import { sessionOffsets } from '@pawl/store/sessions/sessions';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import type { Ingest } from '../sessions/ingest/ingest.ts';
import { recordMail, shortBody } from '../mail/mail-record.ts';
import { rootAgent } from '../platform/root-agent.ts';
import type { Platform } from '../platform/platform.ts';
import { audienceOf } from './audience.ts';

/** Detects agents that make no progress, and when they recover. Marks and reports them; ends none. */
export type StuckWatch = {
  /** Checks agents that may be working; `elapsedMs` has passed since the last check. */
  look(views: readonly AgentFacts[], elapsedMs: number): Promise<void>;
};

type AtWork = { agent: Agent; run: Run; session: Session };

export function watchProgress(
  platform: Pick<Platform, 'store' | 'providers' | 'timing'>,
  ingest: Pick<Ingest, 'turn'>,
): StuckWatch {
  const { db } = platform.store;
  const seen = new Map<string, Progress>();

  async function checkProgress({ agent, run, session }: AtWork, elapsedMs: number): Promise<void> {
    const messages = await lastSessionMessages(db, agent.id, session.id, limits.loopMessages);
    const { stdout, stderr } = await sessionOffsets(db, session.id);
    const observation = { runId: run.id, sessionId: session.id, messageId: lastOwn(messages), bytes: stdout + stderr };
    const last = seen.get(agent.id) ?? null;
    // A daemon that has just started has no history: an agent that was stuck stays so until something changes.
    const isNewHere = last === null && agent.stuckAt !== null && (messages.at(-1)?.createdAt ?? 0) <= agent.stuckAt;
    const longestGapMs = 2 * platform.timing.healthMs;
    const progress = progressAfter(last, observation, { elapsedMs, longestGapMs });
    seen.set(agent.id, isNewHere ? { ...progress, silentMs: limits.stuckToolMs } : progress);
    const { silentMs } = seen.get(agent.id) ?? progress;
    const reason = loopIn(messages) ?? silenceOf({ silentMs, mayRunTool: mayRunTool(agent, messages) });
    if (reason !== null && agent.stuckAt === null) await mark(agent.id, session.id, reason);
    if (reason === null && agent.stuckAt !== null) await clear(agent.id);
  }

  /** If a CLI's output does not show when tools run, assume that one runs. */
  function mayRunTool(agent: Agent, messages: readonly Message[]): boolean {
    const format = platform.providers.find(agent.provider)?.outputFormat ?? 'text';
    const isMute = outputParsers[format].conversation.length === 0 || messages.at(-1)?.kind === 'system';
    return isMute || ingest.turn(agent.id).tools.length > 0;
  }

  async function mark(agentId: string, sessionId: string, reason: string): Promise<void> {
    await platform.store.write(async (tx) => {
      const facts = await agentView(tx.db, agentId);
      if (facts === null || facts.session?.id !== sessionId || facts.session.endedAt !== null) return;
      await markStuck(tx, facts, reason);
    });
  }

  async function clear(agentId: string): Promise<void> {
    await platform.store.write(async (tx) => {
      const { agent } = (await agentView(tx.db, agentId)) ?? { agent: null };
      if (agent === null || agent.stuckAt === null) return;
      await updateAgent(tx, agentId, { stuckAt: null, stuckReason: null });
      tx.emit({ type: 'agent.unstuck', projectId: agent.projectId, agentId, data: {} });
    });
  }

  return {
    async look(views, elapsedMs) {
      const waiting = await waitingApprovals(db);
      // An agent that waits for a person makes no progress, and is not stuck.
      const atWork = views.filter(isAtWork).filter(({ agent }) => !waiting.has(agent.id));
      const ids = new Set(atWork.map(({ agent }) => agent.id));
      for (const id of seen.keys()) if (!ids.has(id)) forgetUnlessOpen(seen, views, id);
      for (const view of atWork) await checkProgress(view, elapsedMs);
      for (const id of await stuckAgents(db)) {
        const facts = await agentView(db, id);
        if (facts !== null && isOver(facts)) await clear(id);
      }
    },
  };
}

/** Marks an agent as stuck and mails those who hear of it. */
export async function markStuck(tx: WriteTransaction, { agent, run }: AgentFacts, reason: string): Promise<void> {
  if (agent.stuckAt !== null || agent.endedAt !== null) return;
  // Never before the end of the run in question, even if the clock was set back.
  const stuckAt = Math.max(tx.now, run?.endedAt ?? 0);
  await updateAgent(tx, agent.id, { stuckAt, stuckReason: reason });
  tx.emit({ type: 'agent.stuck', projectId: agent.projectId, agentId: agent.id, data: { reason } });
  const text = `${agent.alias} seems to be stuck: ${reason}. It was not ended. See what it does with \`pawl logs ${agent.alias}\`; a message may help it: \`pawl send ${agent.alias} "…"\`.`;
  const told = await audienceOf(tx.db, agent, run);
  const from = await rootAgent(tx.db);
  for (const to of told) await recordMail(tx, { from, to, kind: 'system' }, shortBody(text));
}

/** True if a process of it runs and should make progress. */
function isAtWork(view: AgentFacts): view is AtWork {
  const { agent, run, session } = view;
  if (run?.outcome !== null || session === null || agent.stopRequestedAt !== null || agent.endedAt !== null)
    return false;
  return session.startedAt !== null && session.endedAt === null && session.pausedAt === null && session.result === null;
}

/** True if the run in which it was stuck has ended; an agent marked after repeated crashes stays so. */
function isOver({ agent, run }: AgentFacts): boolean {
  if (run === null || run.outcome === null) return false;
  return run.outcome !== 'failed' || (agent.stuckAt ?? 0) < (run.endedAt ?? 0);
}

/** Silence continues between two sessions of one run. */
function forgetUnlessOpen(seen: Map<string, Progress>, views: readonly AgentFacts[], id: string): void {
  const run = views.find(({ agent }) => agent.id === id)?.run;
  if (run?.id !== seen.get(id)?.runId || run?.outcome !== null) seen.delete(id);
}

function lastOwn(messages: readonly Message[]): number {
  return messages.findLast(({ kind }) => kind !== 'user' && kind !== 'system')?.id ?? 0;
}
