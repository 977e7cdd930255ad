import type { Top } from '@pawl/protocol/sessions/view';
import { processUsage } from '@pawl/host/process/process-usage';
import type { Session } from '@pawl/schema/record';
import { everyLivingAgent } from '@pawl/store/agents/agent-views';
import { openSessions } from '@pawl/store/sessions/sessions';
import type { Platform } from '../platform/platform.ts';
import { identityOf } from '../platform/platform.ts';
import type { Agents } from './agents.ts';

/** The running sessions and their use of CPU and memory, from one scan of the processes. */
export async function readTop(platform: Platform, agents: Agents): Promise<Top> {
  const { db } = platform.store;
  const rows = await everyLivingAgent(db);
  const views = await agents.views(rows.filter(({ agent }) => agent.parentId !== null));
  const sessions = new Map((await openSessions(db)).map((session) => [session.agentId, session]));
  const identities = [...sessions.values()].map(identityOf).filter((identity) => identity !== null);
  const usage = await processUsage(platform.host, identities);
  const spent = (session: Session | undefined) => usage.get(session?.pid ?? 0);
  const counts: Record<string, number> = {};
  for (const { activity } of views) counts[activity] = (counts[activity] ?? 0) + 1;
  return {
    daemon: { memoryBytes: process.memoryUsage.rss(), uptimeMs: Math.round(performance.now()) },
    counts,
    agents: views.map((view) => {
      const own = spent(sessions.get(view.id));
      return {
        ...view,
        cpuMs: own?.cpuMs ?? null,
        memoryBytes: own?.residentBytes ?? null,
        processes: own?.processes ?? 0,
      };
    }),
  };
}
