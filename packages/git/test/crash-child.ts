/** Does one operation, as its parent asks in a JSON argument; it says when it begins and when it is done. */
import { openRepository } from '../src/repository/repository.ts';
import { pruneTrash } from '../src/trash/prune.ts';
import { reattachWorktree } from '../src/worktree/reattach.ts';
import { restoreWorktree } from '../src/trash/restore.ts';
import { takeSnapshot } from '../src/snapshot/snapshot.ts';
import { addWorktree } from '../src/worktree/worktree.ts';

const operations = { addWorktree, takeSnapshot, restoreWorktree, pruneTrash, reattachWorktree };

type Order = { root: string; operation?: keyof typeof operations };

const { root, operation = 'addWorktree', ...request } = JSON.parse(process.argv[2] ?? '') as Order;
const repository = await openRepository(root);
process.stdout.write('begin\n');
await operations[operation](repository, request as never);
process.stdout.write('done\n');
