import { flag, integer, text } from '@pawl/store/facts/fact-column';
import type { FactOf } from '@pawl/store/facts/fact-table';
import { factTable } from '@pawl/store/facts/fact-table';
import type { Database } from '@pawl/store/tables';

/** Merges for a person to resolve. Each is recorded before it starts, so that an interrupted one is recognised. */
export const changeFixes = factTable('change_fixes', ['changeId'], {
  changeId: text,
  projectId: text,
  branch: text,
  /** The head that the merge is for. */
  head: text,
  /** The worktree. */
  path: text,
  /** True if the worktree was created for this, and belongs to no agent. */
  isOwnWorktree: flag,
  at: integer,
});
export type FixRecord = FactOf<typeof changeFixes>;

/** The worktrees created for persons to resolve conflicts in. */
export async function fixWorktrees(db: Database): Promise<FixRecord[]> {
  return (await changeFixes.all(db)).filter(({ isOwnWorktree }) => isOwnWorktree);
}
