import type { ChangeView } from '@pawl/protocol/changes/view';
import { git } from '@pawl/testing/sample-repository';
import { makeBranches, patchChange, startQuietDaemon } from './change.ts';

/** A quiet daemon whose repository has as many branches with a commit each, of which tests take the next. */
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
  /** Writes facts of a change, as the queue would. */
  const patch = (id: string, fields: Parameters<typeof patchChange>[2]) => patchChange(daemon, { id }, fields);

  return {
    daemon,
    nextBranch,
    open,
    patch,
    /** A change of a person, on a branch of its own. */
    aChange: async (): Promise<ChangeView> => (await open(nextBranch())).change,
    /** Another commit on its branch, as it comes from a branch that is not used otherwise. */
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
