import { reasonToStay } from '@pawl/core/supervision/leaving';
import type { Run } from '@pawl/schema/record';
import type { AgentFacts } from '@pawl/schema/agent/agent-facts';
import { agentView } from '@pawl/store/agents/agent-views';
import { changesAbout } from '@pawl/store/changes/changes';
import { livingChildren } from '@pawl/store/agents/family';
import { waitingMail } from '@pawl/store/mail/mail';
import { queueOf } from '@pawl/store/changes/queues';
import { runById } from '@pawl/store/sessions/runs';
import type { Database } from '@pawl/store/tables';
import { currentAgent } from '../registry/current-agent.ts';

/** How many waiting mails are read to find one that starts a turn. */
const mailsRead = 64;

/** Why an idle agent stays for now, or null if it may leave. */
export async function whyItStays(db: Database, facts: AgentFacts, now: number): Promise<string | null> {
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

/** True if the delegating run is still open. A later result is stored with its run and starts no turn. */
export async function isDelegatorAtWork(db: Database, run: Run | null): Promise<boolean> {
  const parentRunId = run?.parentRunId ?? null;
  return parentRunId !== null && (await runById(db, parentRunId))?.outcome === null;
}
