import { worktreeTone } from '@pawl/present/state-tone';
import { printableLine } from '@pawl/present/text';
import { span } from '@pawl/present/tone';
import type { CommandContext } from '../../context.ts';
import { withDaemon } from '../../daemon/launch.ts';
import { table } from '../../terminal/table.ts';

const columns = [
  { title: 'STATE' },
  { title: 'AGENT' },
  { title: 'PROJECT' },
  { title: 'BRANCH' },
  { title: 'ENTRY' },
  { title: 'DETAIL' },
  { title: 'PATH', flexible: true },
];

/** Lists all of Pawl's worktrees: in use, retained, in the trash. */
export async function listWorktrees(context: CommandContext): Promise<number> {
  const list = await withDaemon(context.home, (client) => client.worktrees());
  context.answer('worktrees', list, () => {
    if (list.worktrees.length === 0) return 'no worktrees';
    const rows = list.worktrees.map((worktree) => [
      span(worktree.state, worktreeTone(worktree.state)),
      worktree.agent?.alias ?? '-',
      worktree.project ?? '-',
      worktree.branch ?? '-',
      worktree.entry ?? '-',
      worktree.detail,
      worktree.path,
    ]);
    return table(columns, rows, context.colours, context.columns);
  });
  return 0;
}

/** Restores a worktree from the trash. */
export async function restoreWorktree(context: CommandContext, entry: string): Promise<number> {
  const answer = await withDaemon(context.home, (client) => client.restoreWorktree(entry));
  context.answer('restored', answer, () => `restored to ${printableLine(answer.path)}`);
  return 0;
}
