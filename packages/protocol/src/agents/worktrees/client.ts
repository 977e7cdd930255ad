import type { PruneAnswer, WorktreeList } from './view.ts';
import { segment } from '../../path-segment.ts';
import type { Requests } from '../../requests.ts';

/** The client for worktrees. */
export type WorktreeClient = {
  worktrees(): Promise<WorktreeList>;
  restoreWorktree(entry: string): Promise<{ path: string }>;
  pruneWorktrees(body: { olderThanMs: number; force?: boolean; dryRun?: boolean }): Promise<PruneAnswer>;
};

export function worktreeClient({ get, post }: Requests): WorktreeClient {
  return {
    worktrees: () => get('/api/worktrees'),
    restoreWorktree: (entry) => post(`/api/worktrees/${segment('worktree', entry)}/restore`, {}, { waits: true }),
    pruneWorktrees: (body) => post('/api/worktrees/prune', body, { waits: true }),
  };
}
