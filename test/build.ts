import { execFileSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { memoryDirectory } from './memory-directory.ts';

const root = join(import.meta.dirname, '..');

/** Brings up to date what tests start or copy: the bundle, the daemon with crash points, and the database of a new home. */
export default function setup(): () => void {
  // Tests are a person's commands, also when an agent or a check of Pawl's runs them.
  for (const name of ['PAWL_SESSION', 'PAWL_AGENT_ID', 'PAWL_AGENT_TOKEN', 'PAWL_HELPER', 'AI_AGENT_ID', 'AI_HELPER'])
    delete process.env[name];
  process.env['PAWL_TEST_SEED'] ??= String(randomInt(1, 2 ** 31 - 1));
  process.stderr.write(
    `Endurance tests take the seed ${process.env['PAWL_TEST_SEED']}; PAWL_TEST_SEED=… repeats it.\n`,
  );
  // Hundreds of programs start from the same few bundles: they are compiled once.
  process.env['NODE_COMPILE_CACHE'] = join(root, '.cache', 'compiled');
  execFileSync(process.execPath, [join(root, 'scripts', 'setup.mjs'), '--build', '--for-tests'], { stdio: 'inherit' });
  // The long tests run on the disk that a person would use.
  const temporary = process.env['PAWL_TEST_LONG'] === '1' ? null : memoryDirectory('/dev/shm');
  if (temporary !== null) process.env['TMPDIR'] = temporary;
  return () => {
    if (temporary !== null) rmSync(temporary, { recursive: true, force: true });
  };
}
