import { patienceMs } from '@pawl/testing/wait-until';
import { execFile } from 'node:child_process';
import { join } from 'node:path';

/** The command line as it is shipped, which starts faster than from source. */
export const mainFile = join(import.meta.dirname, '..', '..', '..', 'dist', 'pawl.mjs');

type CliResult = { code: number; stdout: string; stderr: string };

/** Runs the command line in a process of its own, and waits until it has left. */
export function runCli(words: string[], env: NodeJS.ProcessEnv = {}): Promise<CliResult> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [mainFile, ...words],
      { env: { ...process.env, NO_COLOR: '1', ...env }, timeout: patienceMs },
      (_error, stdout, stderr) => resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    );
    child.stdin?.end();
  });
}
