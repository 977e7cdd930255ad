import { firstLine } from '@pawl/core/shorten';
import { messageOf } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import type { Agent } from '@pawl/schema/record';
import { agentView } from '@pawl/store/agents/agent-views';
import { agentsWithQuestions } from '@pawl/store/mail/questions';
import { text } from '@pawl/store/facts/fact-column';
import { factTable } from '@pawl/store/facts/fact-table';
import type { Database } from '@pawl/store/tables';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import type { Platform } from '../platform/platform.ts';
import { tellSupervisor } from '../mail/tell-supervisor.ts';
import type { Signals } from '../agents/signals.ts';

/** The questions and runs that were left to the person, so that each is reported once. */
const parkedItems = factTable('parked_items', ['id'], { id: text });
/** After this time a parked item may be reported again. */
const parkedMs = 30 * 24 * 60 * 60_000;

/** True if the agent's supervisor has been told that this waits. */
export async function isParked(db: Database, id: string): Promise<boolean> {
  return (await parkedItems.get(db, { id })) !== null;
}

/** Leaves an item to the person indefinitely, and tells the agent's supervisor once. */
export async function park(tx: WriteTransaction, id: string, agent: Agent, what: string): Promise<void> {
  await parkedItems.deleteBefore(tx, tx.now - parkedMs);
  await parkedItems.set(tx, { id });
  await tellSupervisor(tx, agent, `${agent.alias} waits: ${what}`);
}

/** Settles runs that ended with questions but got no answer in time: their agents decide themselves, or stay parked. */
export async function settleWaitingRuns(
  platform: Platform,
  signals: Pick<Signals, 'reply'>,
  now: number,
): Promise<void> {
  const { store, choices } = platform;
  const { deadlineMs, policy } = choices.questions;
  if (deadlineMs === null) return;
  for (const { id } of await agentsWithQuestions(store.db)) {
    const facts = await agentView(store.db, id);
    const run = facts?.run ?? null;
    if (facts === null || run === null || run.questions === null || run.endedAt === null) continue;
    if (run.endedAt + deadlineMs > now) continue;
    if (policy === 'decide' && facts.agent.kind === 'main') await decide(platform, signals, id, run.id);
    else if (!(await isParked(store.db, run.id))) {
      const asked = firstLine(run.questions[0]?.question ?? '', limits.labelCharacters);
      await store.write((tx) => park(tx, run.id, facts.agent, `its questions have no answer so far: ${asked}`));
    }
  }
}

async function decide(
  platform: Platform,
  signals: Pick<Signals, 'reply'>,
  agentId: string,
  runId: string,
): Promise<void> {
  try {
    await signals.reply(agentId, { notNow: true }, { by: 'policy', key: `decide:${runId}` });
  } catch (error) {
    // It was answered meanwhile, or cannot be resumed; continue with the others.
    platform.log.warn({ agent: agentId, error: messageOf(error) }, 'failed to tell an agent to decide itself');
  }
}
