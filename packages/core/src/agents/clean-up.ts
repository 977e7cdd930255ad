/** What is known of a dead agent's worktree before anything is done to it. */
export type WorktreeWork = {
  state: 'missing' | 'locked' | 'occupied' | 'dirty' | 'unpushed' | 'clean';
  detail: string;
  /** Processes that work in it, of whomever. */
  processes: number;
};

export type CleanUp =
  /** Nothing is there. */
  | { do: 'note-missing' }
  /** Something would be lost, or somebody is in it: it stays, and that is said. */
  | { do: 'retain'; reason: string }
  /** It holds nothing that git does not have: to the trash, with its branch when that holds nothing either. */
  | { do: 'trash'; deleteBranch: boolean };

/**
 * What becomes of a dead agent's worktree. Nothing is ever forced: uncommitted files, a lock, or somebody who still works
 * in it keep it where it is; commits that are nowhere else keep the branch.
 */
export function judgeCleanUp(work: WorktreeWork): CleanUp {
  if (work.state === 'missing') return { do: 'note-missing' };
  if (work.processes > 0) return { do: 'retain', reason: `${work.processes} processes still work in it` };
  if (work.state === 'clean' || work.state === 'unpushed') return { do: 'trash', deleteBranch: work.state === 'clean' };
  return { do: 'retain', reason: work.detail };
}
