import { changeState } from '@pawl/core/changes/change-state';
import { branchTip } from '@pawl/git/repository/repository';
import { limits } from '@pawl/schema/limit';
import type { ProjectConfig } from '@pawl/schema/project-config';
import { openChanges } from '@pawl/store/changes/changes';
import { openChecks } from '@pawl/store/changes/checks';
import { queueOf } from '@pawl/store/changes/queues';
import { projectById } from '@pawl/store/projects/projects';
import { countOpenSessions } from '@pawl/store/sessions/sessions';
import type { Database } from '@pawl/store/tables';
import { changeFacts, projectFacts } from '../changes/facts.ts';
import type { Platform } from '../platform/platform.ts';
import { repositoryOf } from '../platform/platform.ts';
import type { Target } from '../project-config/target.ts';

/** In-memory state of one project's queue, all of which can be rebuilt. */
export type Watch = {
  /** When a new check of main was requested; null if none is pending. */
  askedAt: number | null;
  /** A pass is scheduled and has not started. */
  isDue: boolean;
  timer: NodeJS.Timeout | null;
  target: { found: Target; at: number } | null;
  /** The target branch when there was nothing left to do; null if there may be. */
  rest: { tip: string; branch: string; isRemote: boolean; at: number } | null;
  /** When to recheck a red main, in case the failure was transient. */
  recheckAt: number | null;
  /** How many times in a row the queue has waited for the same obstacle. */
  waits: number;
};

export const newWatch = (): Watch => ({
  askedAt: null,
  isDue: false,
  timer: null,
  target: null,
  rest: null,
  recheckAt: null,
  waits: 0,
});

/** True if nothing runs, main is green, and every open change waits for a person: then only events trigger a pass. */
export async function isAtRest(
  db: Database,
  projectId: string,
  { askedAt }: Watch,
  config: ProjectConfig,
): Promise<boolean> {
  const queue = await queueOf(db, projectId);
  if (askedAt !== null || queue === null || queue.emergency !== null || config.forge !== 'local') return false;
  if (queue.seen !== queue.green && queue.green !== null && config.checks.length > 0) return false;
  if ((await openChecks(db, projectId)).length > 0 || (await countOpenSessions(db)) > 0) return false;
  const facts = await projectFacts(db, projectId, config);
  for (const change of await openChanges(db, projectId)) {
    if (changeState(await changeFacts(db, change, facts)).state !== 'ready') return false;
  }
  return true;
}

export const restAt = ({ tip, branch, remote }: Target, now: number): NonNullable<Watch['rest']> => ({
  tip,
  branch,
  isRemote: remote !== null,
  at: now,
});

/**
 * True if the target branch may have moved since. A local branch is read each time; a remote, which costs more, only at
 * intervals.
 */
export async function hasMoved(
  platform: Platform,
  projectId: string,
  rest: NonNullable<Watch['rest']>,
): Promise<boolean> {
  if (rest.isRemote) return Math.abs(platform.clock() - rest.at) >= limits.remoteMs;
  const project = await projectById(platform.store.db, projectId);
  return project !== null && (await branchTip(await repositoryOf(platform, project), rest.branch)) !== rest.tip;
}
