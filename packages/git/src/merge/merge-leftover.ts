import { join } from 'node:path';
import { runInOwnRepository, runOnFiles, type OwnView } from '../command/command.ts';
import { objectsDirOf, type Repository } from '../repository/repository.ts';
import { withScratch } from '../command/scratch.ts';
import { treeOfWork } from '../worktree/work-tree.ts';

/**
 * Whether every tracked file of a worktree matches either a commit or a tree that was being written there: then no
 * work was done in it, and the write may be repeated. Changes only the index, to that of the commit.
 */
export async function isHalfOf(
  repository: Repository,
  view: OwnView,
  { head, tree }: { head: string; tree: string },
): Promise<boolean> {
  const { ownDir, path, adminDir } = view;
  await runOnFiles(view, ['read-tree', '--reset', head]);
  return withScratch(ownDir, async (scratch) => {
    const objectsDir = join(scratch, 'objects');
    const work = await treeOfWork(repository, { ownDir, path, adminDir, objectsDir, scratch });
    const places = [objectsDirOf(repository), objectsDir];
    const differing = async (from: string, filter: string): Promise<Set<string>> => {
      const args = [
        'diff-tree',
        '-r',
        '-z',
        '--name-only',
        '--no-renames',
        `--diff-filter=${filter}`,
        from,
        work,
        '--',
      ];
      const { stdout } = await runInOwnRepository(ownDir, places, args, { asBytes: true });
      return new Set(stdout.split('\0').filter((name) => name !== ''));
    };
    const [fromHead, fromTree] = [await differing(head, 'ADMT'), await differing(tree, 'ADMT')];
    const [newToHead, newToTree] = [await differing(head, 'A'), await differing(tree, 'A')];
    // A file that neither has is untracked, and stays.
    return [...fromHead].every((name) => !fromTree.has(name) || (newToHead.has(name) && newToTree.has(name)));
  });
}
