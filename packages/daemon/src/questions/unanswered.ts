import { firstLine } from '@pawl/core/shorten';
import { messageOf } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import type { Agent } from '@pawl/schema/record';
import { agentView } from '@pawl/store/agents/agent-views';
import { agentsWithQuestions } from '@pawl/store/mail/questions';
import { forgetSettings, getSetting, setSetting } from '@pawl/store/settings';
import type { Database } from '@pawl/store/tables';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import type { Platform } from '../platform/platform.ts';
import { tellSupervisor } from './question-record.ts';
import type { Signals } from '../agents/signals.ts';

/** What is parked is remembered under this name and the id of its question or run, so that it is told once. */
const parkedPrefix = 'parked:';
/** What is parked for so long may be told again. */
const parkedMs = 30 * 24 * 60 * 60_000;

/** True when whoever looks after the agent has been told that this waits. */
export async function isParked(db: Database, id: string): Promise<boolean> {
  return (await getSetting(db, parkedPrefix + id)) !== undefined;
}

/** Leaves something to the person for as long as it takes, and tells whoever looks after the agent, once. */
export async function park(tx: WriteTransaction, id: string, agent: Agent, what: string): Promise<void> {
  await forgetSettings(tx, parkedPrefix, tx.now - parkedMs);
  await setSetting(tx, parkedPrefix + id, true);
  await tellSupervisor(tx, agent, `${agent.alias} waits: ${what}`);
}

/** Runs that ended with questions, when nobody answers in time: their agents decide themselves, or stay where they are. */
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
      await store.write((tx) => park(tx, run.id, facts.agent, `nobody has answered its questions so far: ${asked}`));
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
    // Somebody was quicker, or it cannot go on: others are not kept from it.
    platform.log.warn({ agent: agentId, error: messageOf(error) }, 'an agent could not be told to decide itself');
  }
}
