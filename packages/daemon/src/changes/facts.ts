import { blockingOf } from '@pawl/core/changes/change-comment';
import type { ChangeFacts } from '@pawl/core/changes/change-state';
import type { Change, Check, Queue } from '@pawl/schema/change';
import type { ProjectConfig } from '@pawl/schema/project-config';
import type { ProjectSettings } from '@pawl/schema/record';
import { commentsOf } from '@pawl/store/changes/changes';
import { openChecks } from '@pawl/store/changes/checks';
import { projectSettings } from '@pawl/store/projects/project-settings';
import { queueOf } from '@pawl/store/changes/queues';
import type { Database } from '@pawl/store/tables';

/** The facts that all changes of one project share. */
export type ProjectFacts = {
  config: ProjectConfig;
  settings: ProjectSettings;
  queue: Queue | null;
  running: Check[];
};

export async function projectFacts(db: Database, projectId: string, config: ProjectConfig): Promise<ProjectFacts> {
  return {
    config,
    settings: await projectSettings(db, projectId),
    queue: await queueOf(db, projectId),
    running: await openChecks(db, projectId),
  };
}

/** The project's rules that determine the states of its changes. */
export function rulesFrom({ config, settings, queue }: Omit<ProjectFacts, 'running'>): ChangeFacts['rules'] {
  const { enabled, auto, source, checkout, remote } = config;
  return {
    enabled,
    hasChecks: config.checks.length > 0,
    review: config.review !== null,
    branch: queue?.branch ?? config.branch ?? 'main',
    source,
    checkout,
    auto,
    remote,
    pushAllowed: settings.pushAllowedAt !== null,
  };
}

/** All facts that determine one change's state. */
export async function changeFacts(db: Database, change: Change, project: ProjectFacts): Promise<ChangeFacts> {
  const { queue, running } = project;
  const comments = await commentsOf(db, change.id);
  const isGreen = queue?.waiting?.changes.includes(change.id) ?? false;
  const isTested = running.some(({ changes }) => changes.includes(change.id));
  return {
    change,
    blocking: blockingOf(comments).length,
    rules: rulesFrom(project),
    queue,
    progress: isGreen ? 'green' : isTested ? 'testing' : null,
  };
}
