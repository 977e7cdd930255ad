import type { Change, Ejection } from '@pawl/schema/change';
import { crashPoint } from '@pawl/schema/crash-point';
import type { Project } from '@pawl/schema/record';
import { updateChange } from '@pawl/store/changes/changes';
import type { DefinitionPlatform } from '../definitions/definition-platform.ts';
import { noteEjected } from './notices.ts';
import { unmoved } from './people.ts';

type EjectParts = { platform: DefinitionPlatform; project: Project };

export async function eject(
  { platform, project }: EjectParts,
  change: Change,
  why: Omit<Ejection, 'at' | 'head'>,
): Promise<void> {
  const { head } = change;
  await platform.store.write(async (tx) => {
    const now = await unmoved(tx.db, change);
    if (now === null) return;
    const ejection: Ejection = { ...why, head, at: tx.now };
    await updateChange(tx, change.id, { ejection });
    const { kind, reason, checkId } = ejection;
    const data = { changeId: change.id, head, kind, reason, checkId };
    tx.emit({ type: 'change.ejected', projectId: project.id, agentId: change.agentId, data });
    await noteEjected(tx, { platform, project, change: now, ejection });
  });
  crashPoint('queue.after_eject');
}
