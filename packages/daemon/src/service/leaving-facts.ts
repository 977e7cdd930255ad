import { reasonToStay } from '@pawl/core/leaving';
import type { AgentView } from '@pawl/store/agent-views';
import { agentView } from '@pawl/store/agent-views';
import { changesAbout } from '@pawl/store/changes';
import { livingChildren } from '@pawl/store/family';
import { waitingMail } from '@pawl/store/mail';
import { queueOf } from '@pawl/store/queues';
import type { Database } from '@pawl/store/tables';
import { isDelegatorAtWork } from './complete.ts';
import { currentAgent } from './desk.ts';

/** How many waiting mails are read to find one that starts a turn. */
const mailsRead = 64;

/** Why an agent at rest stays for now; null when it may leave. */
export async function whyItStays(db: Database, facts: AgentView, now: number): Promise<string | null> {
  const { agent, run } = facts;
  const queue = agent.projectId === null ? null : await queueOf(db, agent.projectId);
  const mails = await waitingMail(db, agent.id, mailsRead);
  return reasonToStay(
    {
      ...facts,
      changes: await changesAbout(db, agent.id),
      repairsMain: queue?.emergency?.fixerId === agent.id,
      // Pawl's own notices start no turn.
      hasMail: mails.some(({ kind }) => kind !== 'system' && kind !== 'nudge'),
      isWatched: (await currentAgent(db)).id === agent.id,
      hasSubagentAtWork: await hasSubagentAtWork(db, agent.id),
      isDelegatorAtWork: agent.kind === 'subagent' && (await isDelegatorAtWork(db, run)),
    },
    now,
  );
}

async function hasSubagentAtWork(db: Database, agentId: string): Promise<boolean> {
  for (const { id, kind } of await livingChildren(db, agentId)) {
    const view = kind === 'subagent' ? await agentView(db, id) : null;
    if (view !== null && view.run?.outcome === null) return true;
  }
  return false;
}
