import { stateOf } from '@pawl/present/agents/agent-text';
import { tokens } from '@pawl/present/amount';
import { agentTone } from '@pawl/present/state-tone';
import { span } from '@pawl/present/tone';
import type { Home } from '@pawl/protocol/node/home';
import { searchPathOf } from '@pawl/protocol/node/shell-environment';
import type { CrewBody, CrewView } from '@pawl/protocol/projects/view';
import { resolve } from 'node:path';
import type { CommandContext } from '../../context.ts';
import { shellVariables } from '../../agent/shell-variables.ts';
import { withDaemon } from '../../daemon/launch.ts';
import { untilAnswered } from '../../daemon/resend.ts';
import { table } from '../../terminal/table.ts';
import type { ProjectOption } from '../../project/project-option.ts';

const columns = [{ title: 'ROLE' }, { title: 'AGENT' }, { title: 'STATE' }, { title: 'TOKENS' }, { title: 'BRANCH' }];

/** The request body for a crew: repository, provider, and the shell's provider variables. */
export async function crewBody(home: Home, path: string, { provider }: { provider?: string }): Promise<CrewBody> {
  return {
    path: resolve(path),
    ...(provider === undefined ? {} : { provider }),
    ...(await shellVariables(home)),
    ...searchPathOf(process.env),
  };
}

/** Starts the missing agents of a project's crew. */
export async function startCrew(
  context: CommandContext,
  options: ProjectOption & { provider?: string },
): Promise<number> {
  const body = await crewBody(context.home, options.project ?? '.', options);
  return answerWith(context, await untilAnswered(context.home, (client) => client.startCrew(body)));
}

/** Ends the crew of a project. */
export async function stopCrew(context: CommandContext, options: ProjectOption): Promise<number> {
  const path = resolve(options.project ?? '.');
  return answerWith(context, await untilAnswered(context.home, (client) => client.stopCrew({ path })));
}

/** Shows the crew of a project. */
export async function showCrew(context: CommandContext, options: ProjectOption): Promise<number> {
  const path = resolve(options.project ?? '.');
  return answerWith(context, await withDaemon(context.home, (client) => client.crew({ path })));
}

function answerWith(context: CommandContext, crew: CrewView): number {
  context.answer('crew', crew, () => describeCrew(context, crew));
  return 0;
}

/** The crew as a table, and the next commands. */
export function describeCrew({ colours, columns: width }: CommandContext, { wanted, members }: CrewView): string {
  const living = members.filter(({ agent }) => agent !== null);
  if (living.length === 0 && !wanted) return 'no crew runs here; start it: pawl crew start';
  const rows = members.map(({ role, agent }) => {
    if (agent === null) return [role, '-', 'missing', '', ''];
    const state = stateOf(agent);
    const used = tokens(agent.usage.inputTokens + agent.usage.outputTokens);
    return [role, span(agent.alias, 'strong'), span(state, agentTone(state)), used, agent.branch ?? '(follows main)'];
  });
  const workspace = members.find(({ role }) => role === 'workspace')?.agent;
  const next =
    living.length < members.length
      ? 'start what is missing: pawl crew start'
      : `talk to it: pawl send ${workspace?.alias ?? 'workspace'} "…"`;
  return `${table(columns, rows, colours, width)}\n${colours.dim(next)}`;
}
