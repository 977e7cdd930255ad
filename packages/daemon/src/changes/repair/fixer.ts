import { fixTask } from '@pawl/core/changes/crew-task';
import { cutText } from '@pawl/core/shorten';
import { crashPoint } from '@pawl/schema/crash-point';
import { PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import { checkById } from '@pawl/store/changes/checks';
import { queueOf, updateQueue } from '@pawl/store/changes/queues';
import type { QueueContext } from '../queue-context.ts';
import { dismiss, outputOf, targetOf } from '../queue-context.ts';
import type { RepairParts } from './staff.ts';
import { assignAgent } from './staff.ts';

/**
 * Starts one agent to repair a red main. A red commit never gets a second one: if the first failed, or none could be
 * started, the emergency waits in the inbox for a person.
 */
export async function repairMain(parts: RepairParts, context: QueueContext): Promise<void> {
  const { platform } = parts;
  const { project, config, queue } = context;
  const { emergency } = queue;
  if (emergency === null || emergency.fixerId !== null || config.fixer === null) return;
  const { commit, checkId } = emergency;
  const { db } = platform.store;
  const task = fixTask({
    target: targetOf(context),
    commit,
    check: await checkById(db, checkId),
    output: await outputOf(parts, checkId),
  });
  const key = `fix:${project.id}:${commit}`;
  try {
    const { fixer: staff, playground } = config;
    const assignment = { project, staff, task, base: commit, mode: 'execute' as const, author: null, playground, key };
    const agent = await assignAgent(parts, assignment);
    crashPoint('emergency.after_fixer');
    const isNeeded = await platform.store.write(async (tx) => {
      const { emergency: now } = (await queueOf(tx.db, project.id)) ?? { emergency: null };
      if (now === null || now.commit !== commit || now.fixerId !== null) return now?.fixerId === agent.id;
      await updateQueue(tx, project.id, { emergency: { ...now, fixerId: agent.id, trouble: null } });
      return true;
    });
    if (!isNeeded) await dismiss(parts, agent);
  } catch (error) {
    if (!(error instanceof PawlError)) throw error;
    // Every pass retries.
    if (await recordTrouble(parts, context, error))
      platform.log.warn({ project: project.name, error: error.message }, 'could not start an agent to repair main');
  }
}

/** Records why no fixer could be started, for the inbox and the queue's view; false if that is already recorded. */
async function recordTrouble(
  { platform }: RepairParts,
  { project, queue }: QueueContext,
  error: PawlError,
): Promise<boolean> {
  const trouble = cutText([error.message, error.hint ?? ''].join(' ').trim(), limits.detailCharacters);
  return platform.store.write(async (tx) => {
    const { emergency } = (await queueOf(tx.db, project.id)) ?? { emergency: null };
    if (emergency === null || emergency.commit !== queue.emergency?.commit || emergency.trouble === trouble)
      return false;
    await updateQueue(tx, project.id, { emergency: { ...emergency, trouble } });
    const { commit } = emergency;
    tx.emit({ type: 'emergency.stranded', projectId: project.id, agentId: null, data: { commit, reason: trouble } });
    return true;
  });
}
