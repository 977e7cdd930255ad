import { tidyOwnDirectory } from '@pawl/git/merge/tidy';
import type { Queue } from '@pawl/schema/change';
import { messageOf, PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import type { Project } from '@pawl/schema/record';
import { queueOf, updateQueue } from '@pawl/store/changes/queues';
import { projectSettings } from '@pawl/store/projects/project-settings';
import { projectById } from '@pawl/store/projects/projects';
import type { Store } from '@pawl/store/store';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { SessionPlatform } from '../accounts/session-platform.ts';
import { beginIfConfigured, openMissing } from '../changes/changes.ts';
import { finishBegun } from '../changes/landing/advance.ts';
import type { Crew } from '../changes/repair/crew.ts';
import type { Checker } from '../checks/checker.ts';
import { passForge } from '../forge-sync/forge-pass.ts';
import { listInitiatives } from '@pawl/store/plan/initiatives';
import { proposeBranches } from '../plan/plan-landing.ts';
import { settleTasks } from '../plan/settle-tasks.ts';
import { configPath } from '../project-config/config-file.ts';
import { recordDivergence } from './divergence.ts';
import { followRemote } from './follow-remote.ts';
import { foreseeConflicts } from './foresee.ts';
import { examineAll } from './queue-examine.ts';
import type { Watch } from './queue-watch.ts';
import { isAtRest, restAt } from './queue-watch.ts';
import { runQueue } from './queue.ts';
import { noteSeen, prepare } from './read-target.ts';

export type PassParts = { platform: SessionPlatform; crew: Crew; checker: Checker };

/** Runs a pass of a project's queue; records a failure and retries. Returns the delay before the next pass, or null. */
export async function passOrRetry(parts: PassParts, projectId: string, watch: Watch): Promise<number | null> {
  const { log, store, timing } = parts.platform;
  try {
    return await passOnce(parts, projectId, watch);
  } catch (error) {
    if (!(error instanceof PawlError)) log.error({ project: projectId, error }, 'queue pass failed');
    const hint = error instanceof PawlError ? (error.hint ?? null) : null;
    await noteTrouble(store, projectId, messageOf(error), hint).catch(() => undefined);
    // Most failures are transient: a lock held by another git process, a program that failed to start.
    return timing.queueWaitMs;
  }
}

/**
 * Runs a pass of a project's queue and everything around it. Call it in the project's lane. Returns the delay before
 * the next pass; null if only an event or the tick triggers one.
 */
async function passOnce(parts: PassParts, projectId: string, watch: Watch): Promise<number | null> {
  const { platform, crew, checker } = parts;
  const { db } = platform.store;

  const project = await projectById(db, projectId);
  watch.rest = null;
  if (project === null || (await projectSettings(db, projectId)).untrackedAt !== null) return null;
  const queue = (await queueOf(db, projectId)) ?? (await beginQueueOf(platform, project));
  if (queue === null) {
    await settleTasks(platform, project, null);
    return null;
  }
  const { context, config } = await prepare(platform, project, queue, watch);
  if (queue.advance !== null) await finishBegun(context, queue.advance);
  await noteSeen(context, queue);
  await openMissing(platform, project, config);
  await settleTasks(platform, project, config);
  await proposeBranches(platform, project, await listInitiatives(db, { projectId }));
  await examineAll({ ...context, config });
  await crew.tick(project, config);
  await attempt(platform, project, 'failed to compare branches for conflicts', () =>
    foreseeConflicts(platform, project, context.repository, context.ownDir, config),
  );
  const { place: forge, asksMain } = await passForge(context, config);
  if (asksMain) watch.askedAt ??= platform.clock();
  recheck(queue, watch, platform.clock());
  const queueParts = { ...context, config, checker, forge, askedAt: watch.askedAt };
  const result = await runQueue(queueParts);
  await settleTasks(platform, project, config);
  // A request that came during this pass is for the next one.
  if (result.isAnswered && watch.askedAt === queueParts.askedAt) watch.askedAt = null;
  await followRemote(context);
  await attempt(platform, project, 'failed to record whether the branch has diverged', () =>
    recordDivergence(platform, project),
  );
  if (result.againMs === 0) watch.target = null;
  else if (await isAtRest(db, projectId, watch, config)) {
    watch.rest = restAt(context.target, platform.clock());
    await attempt(platform, project, 'failed to tidy the git directory', () =>
      tidyOwnDirectory(context.repository, context.ownDir),
    );
  }
  return result.againMs;
}

/** Rechecks a red main periodically: the cause may have passed. */
function recheck({ emergency }: Queue, watch: Watch, now: number): void {
  if (emergency === null) watch.recheckAt = null;
  else if (watch.recheckAt !== null && (now >= watch.recheckAt || watch.recheckAt - now > limits.recheckMs))
    watch.askedAt ??= now;
  else if (watch.recheckAt !== null) return;
  if (emergency !== null) watch.recheckAt = now + limits.recheckMs;
}

/** Starts the queue of a project that configures checks. For others this reads one file. */
async function beginQueueOf(platform: SessionPlatform, project: Project): Promise<Queue | null> {
  return existsSync(join(project.root, configPath)) ? beginIfConfigured(platform, project) : null;
}

/** Runs a step that no change waits for: logs a failure and continues the pass. */
async function attempt(
  { log }: SessionPlatform,
  { name }: Project,
  what: string,
  act: () => Promise<unknown>,
): Promise<void> {
  try {
    await act();
  } catch (error) {
    log.warn({ project: name, error: messageOf(error) }, what);
  }
}

/** Records why a pass failed, for the queue's view. */
async function noteTrouble(store: Store, projectId: string, reason: string, hint: string | null): Promise<void> {
  const queue = await queueOf(store.db, projectId);
  if (queue === null || queue.waiting?.reason === reason) return;
  await store.write(async (tx) => {
    await updateQueue(tx, projectId, {
      waiting: { reason, hint, changes: queue.waiting?.changes ?? [], since: tx.now },
    });
    tx.emit({ type: 'queue.waiting', projectId, data: { reason } });
  });
}
