import { blockingOf } from '@pawl/core/ratchet/change-comment';
import type { ChangeFacts } from '@pawl/core/ratchet/change-state';
import type { Change, Check, Queue } from '@pawl/schema/change';
import type { ProjectConfig } from '@pawl/schema/project-config';
import { commentsOf } from '@pawl/store/changes';
import { openChecks } from '@pawl/store/checks';
import { queueOf } from '@pawl/store/queues';
import type { Database } from '@pawl/store/tables';

/** What holds for all changes of one project. */
export type ProjectFacts = { config: ProjectConfig; queue: Queue | null; running: Check[] };

/** Reads what the states of a project's changes follow from, beside the changes themselves. */
export async function projectFacts(db: Database, projectId: string, config: ProjectConfig): Promise<ProjectFacts> {
  return { config, queue: await queueOf(db, projectId), running: await openChecks(db, projectId) };
}

/** Everything that one change's state follows from. */
export async function changeFacts(
  db: Database,
  change: Change,
  { config, queue, running }: ProjectFacts,
): Promise<ChangeFacts> {
  const comments = await commentsOf(db, change.id);
  const isGreen = queue?.waiting?.changes.includes(change.id) ?? false;
  const isTested = running.some(({ changes }) => changes.includes(change.id));
  return {
    change,
    blocking: blockingOf(comments).length,
    rules: { enabled: config.enabled, hasChecks: config.checks.length > 0, review: config.review !== null },
    queue,
    progress: isGreen ? 'green' : isTested ? 'testing' : null,
  };
}
