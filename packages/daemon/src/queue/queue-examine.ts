import type { Change } from '@pawl/schema/change';
import { isPassing, PawlError } from '@pawl/schema/error';
import { changeById, openChanges, updateChange } from '@pawl/store/changes/changes';
import { queueOf } from '@pawl/store/changes/queues';
import { droppedFindings } from './dropped.ts';
import { effectOf } from '../changes/guard/effect.ts';
import type { Examination } from '../changes/guard/examine.ts';
import { examineChange } from '../changes/guard/examine.ts';
import { noteQuestioned } from '../changes/notices.ts';
import type { QueueParts } from './queue-state.ts';

type ExamineParts = Omit<QueueParts, 'checker' | 'forge' | 'askedAt'>;

const nothing: Examination = { findings: [], removesTests: false };

/** Examines the effect of each change's head on the gate, once. Returns whether there was any to examine. */
export async function examineAll(parts: ExamineParts): Promise<boolean> {
  const { platform, project, config } = parts;
  let isNew = false;
  for (const change of await openChanges(platform.store.db, project.id)) {
    const { head } = change;
    if (change.examinedHead === head) continue;
    isNew = true;
    const { findings: weaker, removesTests } = config.guard.enabled ? await examine(parts, change) : nothing;
    const findings = [...(await droppedFindings(parts, change)), ...weaker];
    await platform.store.write(async (tx) => {
      const now = await changeById(tx.db, change.id);
      if (now?.head !== head) return;
      const isolatedAt = removesTests || findings.length > 0 ? tx.now : null;
      await updateChange(tx, change.id, { examinedHead: head, findings, isolatedAt });
      if (findings.length === 0 || now.approvedHead === head) return;
      const data = { changeId: change.id, head, findings };
      tx.emit({ type: 'change.questioned', projectId: project.id, agentId: change.agentId, data });
      await noteQuestioned(tx, { platform, project, change: now, findings });
    });
  }
  return isNew;
}

/** A change that cannot be examined must not block the others: a person is asked about it. */
async function examine(parts: ExamineParts, change: Change): Promise<Examination> {
  const { platform, project, repository, ownDir, config } = parts;
  try {
    const counts = (await queueOf(platform.store.db, project.id))?.counts ?? null;
    const isCounted = counts !== null;
    return await examineChange(repository, { ownDir, config, isCounted, ...(await effectOf(parts, change)) });
  } catch (error) {
    if (!(error instanceof PawlError) || isPassing(error)) throw error;
    return {
      findings: [{ kind: 'check-edited', detail: `it cannot be examined: ${error.message}` }],
      removesTests: true,
    };
  }
}
