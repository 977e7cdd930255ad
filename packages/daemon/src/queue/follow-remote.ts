import { advanceBranch, finishAdvance } from '@pawl/git/merge/advance';
import { isAncestor } from '@pawl/git/merge/merge-step';
import { exportCommits } from '@pawl/git/merge/queue-objects';
import { trackRemote } from '@pawl/git/repository/remote';
import { branchTip } from '@pawl/git/repository/repository';
import { messageOf } from '@pawl/schema/error';
import { forgetSettings, getSetting, setSetting } from '@pawl/store/settings';
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { followKey, stayedKey } from '../changes/landing/local-branch.ts';
import type { LandingContext } from '../changes/landing/advance.ts';

/** A move of the person's branch in progress, so that an interrupted one can be completed. */
const followSchema = z.object({ branch: z.string(), from: z.string(), to: z.string() });

/**
 * Moves the person's own branch to the remote's: only fast-forward, and only if nothing of theirs is in the way.
 * Otherwise it stays behind until they pull.
 */
export async function followRemote(context: LandingContext): Promise<void> {
  const { platform, project, repository, ownDir, target } = context;
  const { branch, tip, remote } = target;
  await finishFollowing(context);
  if (remote === null) return;
  const local = await branchTip(repository, branch);
  if (local === tip) return noteStayed(context, null);
  if (local === null) return noteStayed(context, `there is no local branch ${branch}`);
  if (!(await isAncestor(repository, ownDir, local, tip))) {
    return noteStayed(context, `it has commits that ${remote.name}/${branch} does not have`);
  }
  let reason: string | null = null;
  try {
    await exportCommits(repository, ownDir, { tip, not: [local] });
    await trackRemote(repository, { remote: remote.name, branch, commit: tip });
    await platform.store.write((tx) => setSetting(tx, followKey(project.id), { branch, from: local, to: tip }));
    const note = `pawl: follows ${remote.name}`;
    await advanceBranch(repository, { ownDir, branch, from: local, to: tip, note, crashPoint: 'follow.after_ref' });
  } catch (error) {
    reason = messageOf(error);
    platform.log.info({ branch, why: reason }, 'the local branch stays behind the remote');
  }
  await forgetFollowing(context);
  await noteStayed(context, reason);
}

async function noteStayed({ platform, project, target }: LandingContext, reason: string | null): Promise<void> {
  const key = stayedKey(project.id);
  const known = await getSetting(platform.store.db, key);
  const stayed = reason === null ? undefined : { tip: target.tip, reason };
  if (isDeepStrictEqual(known, stayed)) return;
  await platform.store.write((tx) =>
    stayed === undefined ? forgetSettings(tx, key, Number.MAX_SAFE_INTEGER) : setSetting(tx, key, stayed),
  );
}

type Place = Pick<LandingContext, 'platform' | 'project' | 'repository' | 'ownDir'>;

/** Updates the files of a checkout whose branch a killed daemon had moved. */
export async function finishFollowing(place: Place): Promise<void> {
  const { platform, project, repository, ownDir } = place;
  const begun = await getSetting(platform.store.db, followKey(project.id));
  if (begun === undefined) return;
  if (!(await finishAdvance(repository, { ownDir, ...followSchema.parse(begun) }))) {
    platform.log.warn({ project: project.name }, 'failed to update the files of a checkout; run git status there');
  }
  await forgetFollowing(place);
}

async function forgetFollowing({ platform, project }: Place): Promise<void> {
  await platform.store.write((tx) => forgetSettings(tx, followKey(project.id), Number.MAX_SAFE_INTEGER));
}
