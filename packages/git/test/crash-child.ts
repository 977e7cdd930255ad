/** Adds one worktree, as its parent asks in a JSON argument; it says when it begins and when it is done. */
import { openRepository } from '../src/repository.ts';
import { addWorktree, type WorktreeRequest } from '../src/worktree.ts';

const { root, ...request } = JSON.parse(process.argv[2] ?? '') as WorktreeRequest & { root: string };
const repository = await openRepository(root);
process.stdout.write('begin\n');
await addWorktree(repository, request);
process.stdout.write('done\n');
