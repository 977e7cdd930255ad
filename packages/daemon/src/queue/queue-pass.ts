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
import { lookAtForge } from '../forge-sync/forge-look.ts';
import { settleTasks } from '../plan/settle-tasks.ts';
import { configPath } from '../project-config/config-file.ts';
import { recordDivergence } from './divergence.ts';
import { followRemote } from './follow-remote.ts';
import { foreseeConflicts } from './foresee.ts';
import { examineAll } from './queue-examine.ts';
import type { Watch } from './queue-watch.ts';
import { isAtRest, restAt } from './queue-watch.ts';
import { lookAtQueue } from './queue.ts';
import { noteSeen, prepare } from './target-look.ts';

/** The collaborators of a queue pass. */
export type PassParts = { platform: SessionPlatform; crew: Crew; checker: Checker };

/** Looks at a project's queue once; a failure is recorded and retried. Returns after how long to look again, or null. */
export async function passOrRetry(parts: PassParts, projectId: string, watch: Watch): Promise<number | null> {
  const { log, store, timing } = parts.platform;
  try {
    return await passOnce(parts, projectId, watch);
  } catch (error) {
    if (!(error instanceof PawlError)) log.error({ project: projectId, error }, 'queue pass failed');
    const hint = error instanceof PawlError ? (error.hint ?? null) : null;
    await noteTrouble(store, projectId, messageOf(error), hint).catch(() => undefined);
    // Most failures pass at once: a lock that somebody's git holds for a moment, a program that could not be started.
    return timing.queueWaitMs;
  }
}

/**
 * Looks at a project's queue and at everything around it, once; to be called in the project's lane. Returns after how long to
 * look again, null when only an event or the tick is a reason to.
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
  const { bench, config } = await prepare(platform, project, queue, watch);
  if (queue.advance !== null) await finishBegun(bench, queue.advance);
  await noteSeen(bench, queue);
  await openMissing(platform, project, config);
  await settleTasks(platform, project, config);
  await examineAll({ ...bench, config });
  await crew.tick(project, config);
  await attempt(platform, project, 'conflicts could not be foreseen', () =>
    foreseeConflicts(platform, project, bench.repository, bench.ownDir, config),
  );
  const { place: forge, asksMain } = await lookAtForge(bench, config);
  if (asksMain) watch.askedAt ??= platform.clock();
  recheck(queue, watch, platform.clock());
  const look = { ...bench, config, checker, forge, askedAt: watch.askedAt };
  const looked = await lookAtQueue(look);
  await settleTasks(platform, project, config);
  // A request that came during this look is for the next one.
  if (looked.isAnswered && watch.askedAt === look.askedAt) watch.askedAt = null;
  await followRemote(bench);
  await attempt(platform, project, 'could not record whether its branch has diverged', () =>
    recordDivergence(platform, project),
  );
  if (looked.againMs === 0) watch.target = null;
  else if (await isAtRest(db, projectId, watch, config)) {
    watch.rest = restAt(bench.target, platform.clock());
    await attempt(platform, project, 'its git directory could not be tidied', () =>
      tidyOwnDirectory(bench.repository, bench.ownDir),
    );
  }
  return looked.againMs;
}

/** Checks a red main again now and then: the cause may have passed. */
function recheck({ emergency }: Queue, watch: Watch, now: number): void {
  if (emergency === null) watch.recheckAt = null;
  else if (watch.recheckAt !== null && (now >= watch.recheckAt || watch.recheckAt - now > limits.recheckMs))
    watch.askedAt ??= now;
  else if (watch.recheckAt !== null) return;
  if (emergency !== null) watch.recheckAt = now + limits.recheckMs;
}

/** Begins the queue of a project that says what its checks are. Others cost a look at one file. */
async function beginQueueOf(platform: SessionPlatform, project: Project): Promise<Queue | null> {
  return existsSync(join(project.root, configPath)) ? beginIfConfigured(platform, project) : null;
}

/** Does something that no change has to wait for: a failure is logged, and the pass goes on. */
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
