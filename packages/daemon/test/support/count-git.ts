import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { vi } from 'vitest';

/** Runs something with a `git` wrapper that records its calls, and returns their number. */
export async function countGit(place: string, act: () => Promise<unknown>): Promise<number> {
  const [bin, log] = [join(place, 'counting'), join(place, 'calls')];
  const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
  mkdirSync(bin, { recursive: true });
  writeFileSync(log, '');
  writeFileSync(join(bin, 'git'), `#!/bin/sh\necho call >> '${log}'\nexec '${real}' "$@"\n`, { mode: 0o755 });
  const path = process.env['PATH'];
  vi.stubEnv('PATH', `${bin}:${path}`);
  try {
    await act();
  } finally {
    vi.stubEnv('PATH', path);
  }
  return readFileSync(log, 'utf8').split('\n').length - 1;
}
