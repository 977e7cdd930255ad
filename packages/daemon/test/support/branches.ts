import type { ChangeView } from '@pawl/protocol/changes/view';
import { git } from '@pawl/testing/sample-repository';
import { makeBranches, patchChange, startQuietDaemon } from './change.ts';

/** A daemon with an idle queue whose repository has this many branches with a commit each, for tests to use. */
export async function startBranches(count: number) {
  const daemon = await startQuietDaemon();
  const names = Array.from({ length: count }, (_, index) => `topic/${index + 1}`);
  await makeBranches(daemon.repository, names);

  function nextBranch(): string {
    const name = names.shift();
    if (name === undefined) throw new Error('more branches are needed');
    return name;
  }

  const open = (branch: string, more: object = {}) =>
    daemon.client.openChange({ path: daemon.repository, branch, ...more });
  /** Updates a change, as the queue would. */
  const patch = (id: string, fields: Parameters<typeof patchChange>[2]) => patchChange(daemon, { id }, fields);

  return {
    daemon,
    nextBranch,
    open,
    patch,
    /** A change of a person, on its own branch. */
    aChange: async (): Promise<ChangeView> => (await open(nextBranch())).change,
    /** Another commit on its branch, taken from an unused branch. */
    async onMore({ branch }: Pick<ChangeView, 'branch'>): Promise<string> {
      const tip = await git(daemon.repository, ['rev-parse', nextBranch()]);
      await git(daemon.repository, ['update-ref', `refs/heads/${branch}`, tip]);
      return tip;
    },
    ejected: (change: ChangeView) =>
      patch(change.id, {
        ejection: { kind: 'red', reason: 'exit code 1', files: [], checkId: null, head: change.head, at: 1 },
        returns: 1,
      }),
  };
}

export type Branches = Awaited<ReturnType<typeof startBranches>>;
