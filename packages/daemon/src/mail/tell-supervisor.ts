import type { Agent } from '@pawl/schema/record';
import { agentById } from '@pawl/store/agents/agents';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import { rootAgent } from '../platform/root-agent.ts';
import { recordMail, shortBody } from './mail-record.ts';

/** Sends a notice about an agent to its supervisor, unless that is the person, who has the inbox. */
export async function tellSupervisor(tx: WriteTransaction, agent: Agent, text: string): Promise<string | null> {
  const id = agent.supervisorId ?? agent.parentId;
  const supervisor = id === null ? null : await agentById(tx.db, id);
  if (supervisor === null || supervisor.endedAt !== null || supervisor.parentId === null) return null;
  await recordMail(tx, { from: await rootAgent(tx.db), to: supervisor, kind: 'system' }, shortBody(text));
  return supervisor.id;
}
