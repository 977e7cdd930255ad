import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** Brings up to date what tests start or copy: the bundle, the daemon with crash points, and the database of a new home. */
export default function setup(): void {
  // Tests are a person's commands, also when an agent or a check of Pawl's runs them.
  for (const name of ['PAWL_SESSION', 'PAWL_AGENT_ID', 'PAWL_AGENT_TOKEN', 'PAWL_HELPER', 'AI_AGENT_ID', 'AI_HELPER'])
    delete process.env[name];
  execFileSync(process.execPath, [join(import.meta.dirname, '..', 'scripts', 'setup.mjs'), '--build', '--for-tests'], {
    stdio: 'inherit',
  });
}
