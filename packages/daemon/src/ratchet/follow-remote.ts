import { advanceBranch, finishAdvance } from '@pawl/git/advance';
import { isAncestor } from '@pawl/git/merge-step';
import { exportCommits } from '@pawl/git/queue-objects';
import { trackRemote } from '@pawl/git/remote';
import { branchTip } from '@pawl/git/repository';
import { messageOf } from '@pawl/schema/error';
import { forgetSettings, getSetting, setSetting } from '@pawl/store/settings';
import * as z from 'zod';
import type { Bench } from './advance.ts';

/** A branch of the person's that is about to follow: so one that was cut short can be finished. */
const followSchema = z.object({ branch: z.string(), from: z.string(), to: z.string() });

const keyOf = (projectId: string) => `follow:${projectId}`;

/**
 * Lets the person's own branch follow the remote's: only forward, and only as far as nothing of theirs is in the way. What
 * cannot follow stays behind, as it would until they pull.
 */
export async function followRemote(bench: Bench): Promise<void> {
  const { shop, project, repository, ownDir, target } = bench;
  const { branch, tip, remote } = target;
  await finishFollowing(bench);
  const local = remote === null ? null : await branchTip(repository, branch);
  if (remote === null || local === null || local === tip) return;
  if (!(await isAncestor(repository, ownDir, local, tip))) return;
  try {
    await exportCommits(repository, ownDir, { tip, not: [local] });
    await trackRemote(repository, { remote: remote.name, branch, commit: tip });
    await shop.store.write((tx) => setSetting(tx, keyOf(project.id), { branch, from: local, to: tip }));
    const note = `pawl: follows ${remote.name}`;
    await advanceBranch(repository, { ownDir, branch, from: local, to: tip, note, crashPoint: 'follow.after_ref' });
  } catch (error) {
    shop.log.info({ branch, why: messageOf(error) }, 'the local branch stays behind the remote for now');
  }
  await forgetFollowing(bench);
}

type Place = Pick<Bench, 'shop' | 'project' | 'repository' | 'ownDir'>;

/** Lets the files of a checkout come after a branch that a daemon had moved before it was killed. */
export async function finishFollowing(place: Place): Promise<void> {
  const { shop, project, repository, ownDir } = place;
  const begun = await getSetting(shop.store.db, keyOf(project.id));
  if (begun === undefined) return;
  if (!(await finishAdvance(repository, { ownDir, ...followSchema.parse(begun) }))) {
    shop.log.warn({ project: project.name }, 'the files of a checkout could not follow; look at git status there');
  }
  await forgetFollowing(place);
}

async function forgetFollowing({ shop, project }: Place): Promise<void> {
  await shop.store.write((tx) => forgetSettings(tx, keyOf(project.id), Number.MAX_SAFE_INTEGER));
}
