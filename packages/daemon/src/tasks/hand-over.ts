import { mayAct } from '@pawl/core/definitions/gate';
import type { Definition } from '@pawl/schema/definition';
import { PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import type { Outcome } from '@pawl/schema/runtime/outcome';
import type { Agent } from '@pawl/schema/record';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import { addTaskIn } from './tasks.ts';

type TaskPacket = Extract<Outcome, { type: 'task' }>;

/**
 * Adds the task that an agent with Finalize ended its work with to the plan, for the definition that should do it. Part
 * of the transaction that ends the run, so there is one task for each such end. A task that the plan refuses is
 * recorded, and does not undo the end of the run.
 */
export async function handOver(
  tx: WriteTransaction,
  { agent, definition }: { agent: Agent; definition: Definition | null },
  packet: TaskPacket,
  taker: string | null,
): Promise<void> {
  if (agent.projectId === null || definition === null || !mayAct(definition, 'Finalize')) return;
  try {
    await addTaskIn(tx, {
      projectId: agent.projectId,
      phase: '',
      name: packet.title.replaceAll(/\s+/g, ' ').trim().slice(0, limits.taskNameCharacters),
      description: describe(packet),
      after: [],
      createdBy: agent.id,
      definition: taker,
    });
  } catch (error) {
    if (!(error instanceof PawlError)) throw error;
    const data = { name: packet.title.slice(0, limits.taskNameCharacters), reason: error.message };
    tx.emit({ type: 'task.refused', projectId: agent.projectId, agentId: agent.id, data });
  }
}

function describe({ user_stories: stories, acceptance_criteria: criteria }: TaskPacket): string {
  const list = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : [`${title}:\n${lines.map((line) => `- ${line}`).join('\n')}`];
  return [...list('User stories', stories), ...list('Acceptance criteria', criteria)].join('\n\n');
}
