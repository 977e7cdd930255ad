import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** Tests that start whole programs start the bundle, so it is brought up to date first. */
export default function setup(): void {
  execFileSync(process.execPath, [join(import.meta.dirname, '..', 'scripts', 'setup.mjs'), '--build'], {
    stdio: 'inherit',
  });
}
