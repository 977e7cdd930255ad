import { haltSession } from '@pawl/host/session/halt-session';
import { messageOf } from '@pawl/schema/error';
import type { Agent, Session } from '@pawl/schema/record';
import { agentsToReconcile } from '@pawl/store/agents/agent-views';
import type { SessionPlatform } from '../../accounts/session-platform.ts';
import { addressOf } from '../../platform/platform.ts';
import type { Loop } from './loop.ts';
import { processOf } from './session-process.ts';

/** Adopts every session that ran when the last daemon ended, and wakes every agent with a pending step. */
export async function adoptSessions(loop: Loop): Promise<{ adopted: number; ended: number }> {
  const found = await agentsToReconcile(loop.platform.store.db);
  const running = found.filter(
    ({ session }) => session !== null && session.startedAt !== null && session.endedAt === null,
  );
  let adopted = 0;
  for (const { agent, session } of running) {
    if (session === null) continue;
    try {
      await loop.watch.attach(agent, session);
      const state = await adoptSession(loop.platform, agent, session);
      if (state === 'lost') loop.lost.add(session.id);
      if (state !== 'running') continue;
      adopted++;
      for (const places of [loop.agentSlots, loop.sessionSlots]) places.keep(agent.id);
    } catch (error) {
      // One unreadable session must not block the others; it is retried.
      loop.platform.log.error({ agent: agent.alias, error: messageOf(error) }, 'failed to adopt a session; will retry');
    }
  }
  for (const { agent } of found) loop.wake(agent.id);
  return { adopted, ended: running.length - adopted };
}

/** Records that a process of an earlier daemon is ours again. */
async function adoptSession(
  platform: SessionPlatform,
  agent: Agent,
  session: Session,
): Promise<'running' | 'ended' | 'lost'> {
  const state = await processOf(platform, agent, session).state();
  if (state.is !== 'running') return state.is;
  const { no, pid } = session;
  await platform.store.write(async (tx) => {
    tx.emit({ type: 'session.adopted', projectId: agent.projectId, agentId: agent.id, data: { no, pid: pid ?? 0 } });
  });
  // The last daemon may have died after recording a pause and before doing it.
  if (session.pausedAt !== null) await haltSession(platform.host, addressOf(platform.home, session));
  return 'running';
}
