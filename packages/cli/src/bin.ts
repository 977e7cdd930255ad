/** No imports here: an old Node must reach the line that says it is too old. */

/** The oldest supported Node. */
const required = [24, 15] as const;

function isOldNode(): boolean {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  return major < required[0] || (major === required[0] && minor < required[1]);
}

/** A checkout ships its own Node: an older one hands over to it. */
async function handOver(): Promise<number> {
  const { existsSync } = await import('node:fs');
  const { join } = await import('node:path');
  const own = join(import.meta.dirname ?? '', '..', 'node_modules', 'node', 'bin', 'node');
  if (!existsSync(own)) {
    process.stderr.write(
      `error: pawl needs Node ${required.join('.')} or newer; this is ${process.versions.node}.\n  → Install a newer Node and try again.\n`,
    );
    return 1;
  }
  const { spawn } = await import('node:child_process');
  const child = spawn(own, process.argv.slice(1), { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  return new Promise((resolve) => child.on('close', (code) => resolve(code ?? 1)));
}

if (isOldNode()) process.exitCode = await handOver();
// Answers the most common question without loading anything.
else if (process.argv.length === 3 && process.argv[2] === 'version') {
  const { version } = await import('@pawl/protocol/node/programs');
  process.stdout.write(`${version}\n`);
} else await import('./main.ts');
