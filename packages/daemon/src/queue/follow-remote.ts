import { advanceBranch, finishAdvance } from '@pawl/git/merge/advance';
import { isAncestor } from '@pawl/git/merge/merge-step';
import { exportCommits } from '@pawl/git/merge/queue-objects';
import { trackRemote } from '@pawl/git/repository/remote';
import { branchTip } from '@pawl/git/repository/repository';
import { messageOf } from '@pawl/schema/error';
import { isDeepStrictEqual } from 'node:util';
import { followIntents, followRefusals } from '../changes/landing/local-branch.ts';
import type { LandingContext } from '../changes/landing/advance.ts';

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
    const intent = { projectId: project.id, branch, from: local, to: tip };
    await platform.store.write((tx) => followIntents.set(tx, intent));
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
  const projectId = project.id;
  const known = await followRefusals.get(platform.store.db, { projectId });
  const refusal = reason === null ? null : { projectId, tip: target.tip, reason };
  if (isDeepStrictEqual(known, refusal)) return;
  await platform.store.write((tx) =>
    refusal === null ? followRefusals.delete(tx, { projectId }) : followRefusals.set(tx, refusal),
  );
}

type Place = Pick<LandingContext, 'platform' | 'project' | 'repository' | 'ownDir'>;

/** Updates the files of a checkout whose branch a killed daemon had moved. */
export async function finishFollowing(place: Place): Promise<void> {
  const { platform, project, repository, ownDir } = place;
  const intent = await followIntents.get(platform.store.db, { projectId: project.id });
  if (intent === null) return;
  if (!(await finishAdvance(repository, { ownDir, ...intent }))) {
    platform.log.warn({ project: project.name }, 'failed to update the files of a checkout; run git status there');
  }
  await forgetFollowing(place);
}

async function forgetFollowing({ platform, project }: Place): Promise<void> {
  await platform.store.write((tx) => followIntents.delete(tx, { projectId: project.id }));
}
