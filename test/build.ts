import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** Tests that start whole programs start the bundle, those that kill the daemon one with crash points: both are brought up to date first. */
export default function setup(): void {
  execFileSync(
    process.execPath,
    [join(import.meta.dirname, '..', 'scripts', 'setup.mjs'), '--build', '--crash-points'],
    {
      stdio: 'inherit',
    },
  );
}
