import type { Inspection } from '@pawl/protocol/view';
import type { CommandContext } from '../context.ts';
import { duration, stateOf, statePaint, tokens } from '../format.ts';
import { withDaemon } from '../launch.ts';
import { printable, printableLine } from '../terminal.ts';

/** Shows everything that is known about one agent. */
export async function inspect(context: CommandContext, reference: string): Promise<number> {
  const inspection = await withDaemon(context.home, (client) => client.inspectAgent(reference));
  context.answer('inspection', inspection, () => describe(inspection, context));
  return 0;
}

function describe({ agent, sessions, worktree }: Inspection, { colours }: CommandContext): string {
  const state = stateOf(agent);
  const line = (name: string, value: string) => `  ${colours.dim(name.padEnd(10))} ${value}`;
  const lines = [
    `${colours.bold(agent.alias)} ${statePaint(state, colours)(state)}${agent.detail === '' ? '' : ` — ${printableLine(agent.detail)}`}`,
    line('id', agent.id),
    line('project', agent.project?.name ?? '-'),
    line('provider', `${agent.provider ?? '-'}${agent.model === null ? '' : ` (${printableLine(agent.model)})`}`),
    line(
      'branch',
      `${agent.branch ?? '-'}${agent.baseCommit === null ? '' : ` from ${agent.baseCommit.slice(0, 10)}`}`,
    ),
  ];
  if (worktree !== null) {
    const files = worktree.exists
      ? `${worktree.commits} commits, ${worktree.changed} changed, ${worktree.untracked} untracked`
      : colours.red('missing');
    lines.push(line('worktree', `${printableLine(agent.worktree ?? '-')} (${files})`));
  }
  lines.push(
    line(
      'tokens',
      `${tokens(agent.usage.inputTokens)} in, ${tokens(agent.usage.outputTokens)} out, $${agent.usage.costUsd.toFixed(4)}`,
    ),
  );
  for (const question of agent.run?.questions ?? []) lines.push(line('question', printableLine(question.question)));
  for (const session of sessions) {
    const took =
      session.startedAt === null
        ? 'not started'
        : session.endedAt === null
          ? `pid ${session.pid}`
          : `${duration(session.endedAt - session.startedAt)}, ${printableLine(session.endReason ?? '-')}`;
    lines.push(
      line(`session ${session.no}`, `${session.purpose}: ${took}`),
      line('', colours.dim(printableLine(session.directory))),
    );
    lines.push(line('', colours.dim(`environment: ${session.environment.map(printableLine).join(' ')}`)));
  }
  lines.push(line('task', printable(agent.run?.task ?? '-')));
  return lines.join('\n');
}
