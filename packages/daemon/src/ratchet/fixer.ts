import { fixTask } from '@pawl/core/ratchet/crew-task';
import { crashPoint } from '@pawl/schema/crash-point';
import { PawlError } from '@pawl/schema/error';
import { checkById } from '@pawl/store/checks';
import { queueOf, updateQueue } from '@pawl/store/queues';
import type { Scene } from './scene.ts';
import { dismiss, outputOf, targetOf } from './scene.ts';
import type { CrewParts } from './staff.ts';
import { putToWork } from './staff.ts';

/**
 * Puts exactly one worker to a red main. For one red commit there is never a second: where the first has failed, a person
 * finds the emergency in the inbox.
 */
export async function repairMain(parts: CrewParts, scene: Scene): Promise<void> {
  const { shop } = parts;
  const { project, config, queue } = scene;
  const { emergency } = queue;
  if (emergency === null || emergency.fixerId !== null || config.fixer === null) return;
  const { commit, checkId } = emergency;
  const { db } = shop.store;
  const task = fixTask({
    target: targetOf(scene),
    commit,
    check: await checkById(db, checkId),
    output: await outputOf(parts, checkId),
  });
  const key = `fix:${project.id}:${commit}`;
  try {
    const { fixer: staff, playground } = config;
    const assignment = { project, staff, task, base: commit, mode: 'execute' as const, author: null, playground, key };
    const agent = await putToWork(parts, assignment);
    crashPoint('emergency.after_fixer');
    const isNeeded = await shop.store.write(async (tx) => {
      const { emergency: now } = (await queueOf(tx.db, project.id)) ?? { emergency: null };
      if (now === null || now.commit !== commit || now.fixerId !== null) return now?.fixerId === agent.id;
      await updateQueue(tx, project.id, { emergency: { ...now, fixerId: agent.id } });
      return true;
    });
    if (!isNeeded) await dismiss(parts, agent);
  } catch (error) {
    if (!(error instanceof PawlError)) throw error;
    // The emergency stands in the inbox; it is tried again with every look.
    shop.log.warn({ project: project.name, error: error.message }, 'nobody could be put to the repair of main');
  }
}
