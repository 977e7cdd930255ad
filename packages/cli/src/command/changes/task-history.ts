import { duration } from '@pawl/present/amount';
import { resultTone } from '@pawl/present/state-tone';
import { span } from '@pawl/present/tone';
import { resolve } from 'node:path';
import { shortId } from '../../view/change-text.ts';
import type { CommandContext } from '../../context.ts';
import { withDaemon } from '../../daemon/launch.ts';
import { table } from '../../terminal/table.ts';

/** The default number of rows. */
const usualCount = 10;

const columns = [
  { title: 'AGENT' },
  { title: 'STATE' },
  { title: 'CHANGE' },
  { title: 'AGO' },
  { title: 'TASK', flexible: true },
];

/** Shows what became of agents' assignments, newest first, including agents that are gone. */
export async function taskHistory(
  context: CommandContext,
  options: { limit?: number; project?: string },
): Promise<number> {
  const query = {
    limit: options.limit ?? usualCount,
    ...(options.project === undefined ? {} : { path: resolve(options.project) }),
  };
  const history = await withDaemon(context.home, (client) => client.taskHistory(query));
  const { colours } = context;
  context.answer('history', history, () => {
    if (history.tasks.length === 0) return 'no assignments yet; pawl work "what to do"';
    const now = Date.now();
    const rows = history.tasks.map(({ agent, state, changeId, endedAt, startedAt, task }) => [
      agent.alias,
      span(state, resultTone(state)),
      changeId === null ? '-' : shortId(changeId),
      duration(Math.max(0, now - (endedAt ?? startedAt))),
      task,
    ]);
    return table(columns, rows, colours, context.columns);
  });
  return 0;
}
