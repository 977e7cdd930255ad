import {
  accessOf,
  activityOf,
  changeOf,
  costOf,
  projectOf,
  runDuration,
  stateOf,
  taskOf,
} from '@pawl/present/agents/agent-text';
import { agentTone } from '@pawl/present/state-tone';
import { span } from '@pawl/present/tone';
import type { CommandContext } from '../../context.ts';
import { everyAgent } from '../../agent/every-agent.ts';
import { withDaemon } from '../../daemon/launch.ts';
import { table } from '../../terminal/table.ts';

const columns = [
  { title: 'AGENT' },
  { title: 'STATE' },
  { title: 'TASK', flexible: true },
  { title: 'ACTIVITY', flexible: true },
  { title: 'CHANGE' },
  { title: 'COST' },
  { title: 'TIME', optional: 1 },
  { title: 'ID', optional: 2 },
  { title: 'PROJECT', optional: 3 },
  { title: 'PROVIDER', optional: 4 },
  { title: 'ACCESS', optional: 5 },
];

/** Lists agents, newest first. A star marks the one that the person acts as. */
export async function ps(
  context: CommandContext,
  options: { all?: boolean; reaped?: boolean; project?: string; limit?: number },
): Promise<number> {
  const { reaped, project, limit } = options;
  // A reaped agent is dead as well.
  const all = options.all || reaped;
  const query = {
    ...(all && { all }),
    ...(reaped && { reaped }),
    ...(project !== undefined && { project }),
  };
  const list = await withDaemon(context.home, (client) =>
    limit === undefined ? client.listAgents(query) : everyAgent(client, query, limit),
  );
  const isNone = list.agents.length === 0 && !all && !context.json;
  const ended = isNone ? await endedAgents(context, query) : 0;
  const now = Date.now();
  context.answer('agents', list, () => {
    if (ended > 0) return 'all agents have ended; pawl ps --all shows them, pawl work "what to do" starts another';
    if (list.agents.length === 0) return 'no agents yet; put one to work: pawl work "what to do"';
    const rows = list.agents.map((agent) => {
      const state = stateOf(agent);
      return [
        span(`${agent.id === list.current ? '*' : ''}${agent.alias}`, 'strong'),
        span(state, agentTone(state)),
        taskOf(agent),
        span(activityOf(agent), 'muted'),
        changeOf(agent),
        costOf(agent),
        runDuration(agent, now),
        span(agent.id.slice(0, 6), 'muted'),
        projectOf(agent),
        agent.provider ?? '-',
        accessOf(agent),
      ];
    });
    const more = list.more ? `\n${context.colours.dim('(older ones are left out; --limit shows more)')}` : '';
    return table(columns, rows, context.colours, context.columns) + more;
  });
  return 0;
}

/** How many of the latest agents have ended, without agent 0, which never ends. */
async function endedAgents(context: CommandContext, query: { project?: string }): Promise<number> {
  const { agents } = await withDaemon(context.home, (client) => client.listAgents({ ...query, all: true, limit: 2 }));
  return agents.filter(({ parentId }) => parentId !== null).length;
}
