/** The state of a dead agent's worktree before clean-up. */
export type WorktreeWork = {
  state: 'missing' | 'locked' | 'occupied' | 'dirty' | 'unpushed' | 'clean';
  detail: string;
  /** Number of processes working in it, whoever started them. */
  processes: number;
};

export type CleanUp =
  /** The worktree is gone. */
  | { do: 'note-missing' }
  /** Removing it would lose work or disturb a process: keep it, and record why. */
  | { do: 'retain'; reason: string }
  /** Git has everything in it: move it to the trash, and delete the branch if that has no commits of its own. */
  | { do: 'trash'; deleteBranch: boolean };

/**
 * Decides what happens to a dead agent's worktree. Nothing is forced: uncommitted files, a lock or a running process
 * keep the worktree; commits that exist nowhere else keep the branch.
 */
export function judgeCleanUp(work: WorktreeWork): CleanUp {
  if (work.state === 'missing') return { do: 'note-missing' };
  if (work.processes > 0) return { do: 'retain', reason: `${work.processes} processes are still working in it` };
  if (work.state === 'clean' || work.state === 'unpushed') return { do: 'trash', deleteBranch: work.state === 'clean' };
  return { do: 'retain', reason: work.detail };
}
