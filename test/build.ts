import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** Tests that start whole programs start the bundle, those that kill the daemon one with crash points: both are brought up to date first. */
export default function setup(): void {
  // Tests are a person's commands, also when an agent or a check of Pawl's runs them.
  for (const name of ['PAWL_SESSION', 'PAWL_AGENT_ID', 'PAWL_AGENT_TOKEN', 'PAWL_HELPER', 'AI_AGENT_ID', 'AI_HELPER'])
    delete process.env[name];
  execFileSync(
    process.execPath,
    [join(import.meta.dirname, '..', 'scripts', 'setup.mjs'), '--build', '--crash-points'],
    {
      stdio: 'inherit',
    },
  );
}
