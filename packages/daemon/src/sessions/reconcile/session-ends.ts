import { nextStep } from '@pawl/core/sessions/next-step';
import { crashPoint } from '@pawl/schema/crash-point';
import { messageOf } from '@pawl/schema/error';
import type { Agent, Session } from '@pawl/schema/record';
import { agentView } from '@pawl/store/agents/agent-views';
import { finishSession } from './finish.ts';
import type { Loop } from './loop.ts';
import { findBreach } from './spending.ts';

/** Ends a session's processes and finishes it. Call it in the agent's lane. */
export async function stopAndFinish(
  loop: Loop,
  agent: Agent,
  session: Session,
  failure: string | null = null,
): Promise<void> {
  await loop.watch.attach(agent, session);
  await loop.watch.endProcesses(agent, session);
  crashPoint('stop.after_processes');
  await finish(loop, agent.id, session.id, failure);
}

/** Records the end of a session whose processes have exited, once. Call it in the agent's lane. */
export async function finish(
  { platform, watch, lost, silent }: Loop,
  agentId: string,
  sessionId: string,
  failure: string | null = null,
): Promise<void> {
  const facts = await agentView(platform.store.db, agentId);
  if (facts?.session?.id !== sessionId || facts.session.endedAt !== null) return;
  const how = { failure, lost: lost.has(sessionId), hung: silent.has(sessionId) };
  await finishSession(platform, watch.ingest, facts, how);
  watch.release(sessionId);
  lost.delete(sessionId);
  silent.delete(sessionId);
}

/** Ends a running session whose budget is used up. */
export async function endSpent(loop: Loop, agentId: string): Promise<void> {
  const facts = await agentView(loop.platform.store.db, agentId);
  if (facts?.run?.outcome !== null || facts.session?.endedAt !== null || nextStep(facts).do !== 'watch') return;
  if ((await findBreach(loop.platform, facts.agent, facts.run)) === null) return;
  // The verdict finds the same breach, and names it.
  await stopAndFinish(loop, facts.agent, facts.session);
  loop.wake(agentId);
}

/** Ends a session that has reported that it is done but does not exit; its result counts. */
export function endHung(loop: Loop, agentId: string, sessionId: string): void {
  const { platform, watch } = loop;
  const ending = loop.lanes.run(agentId, async () => {
    const facts = await agentView(platform.store.db, agentId);
    // A paused agent cannot exit, and must not.
    if (facts?.session?.id === sessionId && facts.session.pausedAt === null && watch.has(sessionId))
      await watch.endProcesses(facts.agent, facts.session);
  });
  ending.then(
    () => loop.wake(agentId),
    (error: unknown) => platform.log.error({ agent: agentId, error: messageOf(error) }, 'failed to end a session'),
  );
}
