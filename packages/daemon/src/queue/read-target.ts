import { ensureOwnDirectory } from '@pawl/git/merge/own-directory';
import type { Queue } from '@pawl/schema/change';
import type { ProjectConfig } from '@pawl/schema/project-config';
import type { Project } from '@pawl/schema/record';
import { queueOf, updateQueue } from '@pawl/store/changes/queues';
import { projectById } from '@pawl/store/projects/projects';
import type { SessionPlatform } from '../accounts/session-platform.ts';
import type { LandingContext } from '../changes/landing/advance.ts';
import { ownGitDirectory, repositoryOf } from '../platform/platform.ts';
import { readLastConfig, readProjectConfig } from '../project-config/project-config.ts';
import type { Target } from '../project-config/target.ts';
import { findTarget } from '../project-config/target.ts';
import { isRewritten, noteRewritten } from './dropped.ts';
import type { Watch } from './queue-watch.ts';

/** The context of a queue pass, with the config at exactly the target branch's commit. */
type Prepared = { context: LandingContext & { platform: SessionPlatform }; config: ProjectConfig };

/** Finds the target branch and reads its config. */
export async function prepare(
  platform: SessionPlatform,
  project: Project,
  queue: Queue,
  watch: Watch,
): Promise<Prepared> {
  const repository = await repositoryOf(platform, project);
  const ownDir = ownGitDirectory(platform.home, project.id);
  await ensureOwnDirectory(repository, ownDir);
  const { commit: guess, config: guessed } = await readLastConfig(platform, project, repository, queue);
  const target = await targetNow(platform, watch, () => findTarget(repository, ownDir, guessed, queue.branch));
  const config = target.tip === guess ? guessed : await readProjectConfig(platform, project, repository, target.tip);
  return { context: { platform, project, repository, ownDir, target }, config };
}

/** Asks a remote only at intervals; the push compares again when its branch is moved. */
async function targetNow(platform: SessionPlatform, watch: Watch, find: () => Promise<Target>): Promise<Target> {
  const { target } = watch;
  const now = platform.clock();
  const isRemote = target !== null && target.found.remote !== null;
  if (isRemote && now >= target.at && now - target.at < platform.timing.queueWaitMs) return target.found;
  const found = await find();
  watch.target = { found, at: now };
  return found;
}

/** Reads and records the target branch. */
export async function recordTarget(platform: SessionPlatform, projectId: string, watch: Watch): Promise<void> {
  const { db } = platform.store;
  const project = await projectById(db, projectId);
  const queue = project === null ? null : await queueOf(db, projectId);
  if (project === null || queue === null) return;
  watch.target = null;
  const { context } = await prepare(platform, project, queue, watch);
  await noteSeen(context, queue);
}

/** Records the current commit of the target branch, and a rewrite if it lost commits. */
export async function noteSeen(context: LandingContext, queue: Queue): Promise<void> {
  const { project, target } = context;
  const { store } = context.platform;
  const { branch, tip } = target;
  const now = await queueOf(store.db, project.id);
  if (now === null || (now.seen === tip && now.branch === branch)) return;
  const old = now.branch === branch ? now.seen : null;
  const hasLost = old !== null && (await isRewritten(context, old));
  await store.write(async (tx) => {
    await updateQueue(tx, project.id, { seen: tip, branch });
    if (hasLost) await noteRewritten(tx, project.id, old);
    if (queue.seen === null) return;
    tx.emit({ type: 'main.moved', projectId: project.id, data: { branch, from: queue.seen, to: tip } });
  });
}
