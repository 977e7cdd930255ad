import { version } from '@pawl/protocol/programs';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The oldest Node that has all we stand on. */
const required = [24, 15] as const;

function isOldNode(): boolean {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  return major < required[0] || (major === required[0] && minor < required[1]);
}

/** A checkout brings its own Node along: an older one hands over to it. */
async function handOver(): Promise<number> {
  const own = join(import.meta.dirname ?? '', '..', 'node_modules', 'node', 'bin', 'node');
  if (!existsSync(own)) {
    process.stderr.write(
      `error: pawl needs Node ${required.join('.')} or newer; this is ${process.versions.node}.\n  → Install a newer Node and try again.\n`,
    );
    return 1;
  }
  const { spawnSync } = await import('node:child_process');
  const { status } = spawnSync(own, process.argv.slice(1), { stdio: 'inherit' });
  return status ?? 1;
}

if (isOldNode()) process.exitCode = await handOver();
// The commonest question is answered without loading anything.
else if (process.argv.length === 3 && process.argv[2] === 'version') process.stdout.write(`${version}\n`);
else await import('./main.ts');
