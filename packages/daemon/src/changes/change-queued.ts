import type { Asker } from '@pawl/core/changes/change-rights';
import { nameOf } from '@pawl/core/changes/change-rights';
import type { Change } from '@pawl/schema/change';
import type { WriteTransaction } from '@pawl/store/write-transaction';

export function emitQueued(tx: WriteTransaction, change: Change, asker: Asker): void {
  const data = { changeId: change.id, head: change.head, by: nameOf(asker) };
  tx.emit({ type: 'change.queued', projectId: change.projectId, agentId: change.agentId, data });
}
