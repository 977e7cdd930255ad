import { createClient } from '@pawl/protocol/client';
import type { SelfView } from '@pawl/protocol/view/roster';
import { lookForOthers, systemProbe } from '@pawl/roster/probe';
import { readPrograms } from '@pawl/roster/programs-file';
import { projectRoot } from '@pawl/roster/project-root';
import { PawlError } from '@pawl/schema/error';
import type { Home } from '@pawl/protocol/home';
import { withDaemon } from './launch.ts';

/**
 * Finds the coding agent that this command runs in, when Pawl did not start that agent but knows its project. Null for a
 * person's own shell, and for agents of Pawl's, which have their token in the environment.
 */
export async function adoptedSelf(
  home: Home,
  options: { start: boolean; directory?: string },
  environment: NodeJS.ProcessEnv = process.env,
): Promise<SelfView | null> {
  if (environment['PAWL_AGENT_TOKEN']) return null;
  const own = ownProcess(home, options.directory ?? '.', environment);
  if (own === null) return null;
  try {
    return options.start
      ? await withDaemon(home, (client) => client.rosterSelf(own))
      : await createClient(home).rosterSelf(own);
  } catch (error) {
    // Its checkout is no project: then this is a command of the person who drives it.
    if (error instanceof PawlError && error.code === 'agent_not_found') return null;
    throw error;
  }
}

/**
 * Lets the rest of this command act as the agent that it runs in: its mail is then its own, and never carries the person's
 * authority. The token goes to the environment of this process, where every client looks for it.
 */
export async function actAsAdopted(home: Home, environment: NodeJS.ProcessEnv = process.env): Promise<void> {
  const self = await adoptedSelf(home, { start: true }, environment);
  if (self !== null) environment['PAWL_AGENT_TOKEN'] = self.token;
}

function ownProcess(
  home: Home,
  directory: string,
  environment: NodeJS.ProcessEnv,
): { pid: number; start: string } | null {
  try {
    const probe = systemProbe(environment, readPrograms(home.programs).programs);
    return lookForOthers(probe, projectRoot(directory), [home.worktrees]).own;
  } catch {
    // Where processes cannot be seen, nobody can be told from the person.
    return null;
  }
}
