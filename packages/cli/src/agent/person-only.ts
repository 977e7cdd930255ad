import type { Home } from '@pawl/protocol/node/home';
import { refuseLostToken } from '@pawl/protocol/node/lost-token';
import { PawlError } from '@pawl/schema/error';
import { helperAgent } from '../daemon/client.ts';

/** Refuses a command that writes the person's files if an agent runs it; `what` completes "An agent may not …". */
export async function refuseAgents(
  home: Home,
  what: string,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<void> {
  refuseLostToken(environment);
  const adopted = environment['PAWL_AGENT_TOKEN'] ? null : await helperAgent(home, { start: true }, environment);
  if (!environment['PAWL_AGENT_TOKEN'] && adopted === null) return;
  const hint =
    adopted === null ? 'Ask a person to.' : `This command runs in ${adopted.agent.alias}; use a terminal of your own.`;
  throw new PawlError('forbidden', `An agent may not ${what}; only a person may.`, { hint });
}
