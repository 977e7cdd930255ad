import type { Home } from '@pawl/protocol/node/home';
import { providerVariables } from '@pawl/protocol/node/shell-environment';
import { readPrograms } from '@pawl/roster/programs-file';
import { existsSync } from 'node:fs';
import { reachDaemon } from '../daemon/launch.ts';

/**
 * The shell's variables for coding CLIs, for a request's `environment`. Starts the daemon if it has not yet written down which variables
 * the providers in `config.yaml` read.
 */
export async function shellVariables(home: Home): Promise<{ environment?: Record<string, string> }> {
  if (!existsSync(home.programs)) await reachDaemon(home);
  const environment = providerVariables(process.env, readPrograms(home.programs).variables);
  return Object.keys(environment).length === 0 ? {} : { environment };
}
