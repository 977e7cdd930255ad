import { homeClient } from '@pawl/protocol/node/home-client';
import type { Home } from '@pawl/protocol/node/home';
import type { SelfView } from '@pawl/protocol/roster/view';
import { agentsAbove, systemProbe } from '@pawl/roster/probe';
import { readPrograms } from '@pawl/roster/programs-file';
import { PawlError } from '@pawl/schema/error';
import { launchDaemonFor } from '../daemon/launch.ts';

/**
 * Finds the coding agent that this command runs in, if Pawl did not start it but knows its project. Null for a person's
 * own shell, and for Pawl's agents, which have their token in the environment.
 */
export async function adoptedSelf(
  home: Home,
  options: { start: boolean },
  environment: NodeJS.ProcessEnv = process.env,
): Promise<SelfView | null> {
  if (environment['PAWL_AGENT_TOKEN']) return null;
  const client = homeClient(home);
  for (const each of processesAbove(home, environment)) {
    try {
      const ask = () => client.rosterSelf(each);
      return options.start ? await launchDaemonFor(home, ask) : await ask();
    } catch (error) {
      // Its checkout is not a project: then this is a command of the person who drives it.
      if (!(error instanceof PawlError && error.code === 'agent_not_found')) throw error;
    }
  }
  return null;
}

/**
 * Makes the rest of this command act as the agent it runs in: its mail is its own, and never carries the person's
 * authority. Puts the token into this process's environment, where every client looks for it.
 */
export async function actAsAdopted(home: Home, environment: NodeJS.ProcessEnv = process.env): Promise<void> {
  const self = await adoptedSelf(home, { start: true }, environment);
  if (self !== null) environment['PAWL_AGENT_TOKEN'] = self.token;
}

function processesAbove(home: Home, environment: NodeJS.ProcessEnv): { pid: number; start: string }[] {
  try {
    return agentsAbove(systemProbe(environment, readPrograms(home.programs).programs));
  } catch {
    // If processes cannot be seen, an agent cannot be told from the person.
    return [];
  }
}
