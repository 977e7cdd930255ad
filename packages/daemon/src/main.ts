import { leaveSessionGroup } from '@pawl/host/control-group';
import { homeAt } from '@pawl/protocol/home';
import { messageOf, PawlError } from '@pawl/schema/error';
import { lockDataDirectory, openDataDirectory } from '@pawl/store/data-directory';
import { closeSync, writeSync } from 'node:fs';

/** Where the one who started us waits for a line: ready, or why not. */
const reportFd = process.argv.includes('--report-fd')
  ? Number(process.argv[process.argv.indexOf('--report-fd') + 1])
  : null;

function report(line: object): void {
  if (reportFd === null) return;
  try {
    writeSync(reportFd, `${JSON.stringify(line)}\n`);
    closeSync(reportFd);
  } catch {
    // Whoever started us has stopped waiting.
  }
}

/** The lock comes first and everything heavy after it, so that the loser of a race leaves at once. */
async function main(): Promise<void> {
  const directory = openDataDirectory(homeAt().root);
  const lock = lockDataDirectory(directory);
  // An agent may have started us; we do not end with its session.
  leaveSessionGroup();
  const { runDaemon } = await import('./run.ts');
  await runDaemon(directory, (pid) => report({ ready: true, pid }));
  lock.release();
}

try {
  await main();
  process.exit(0);
} catch (error) {
  const { code, message, hint } = error instanceof PawlError ? error : new PawlError('internal', messageOf(error));
  report({ error: { code, message, hint } });
  process.stderr.write(`${message}${hint === undefined ? '' : `\n  → ${hint}`}\n`);
  if (code === 'internal' && error instanceof Error) process.stderr.write(`${error.stack}\n`);
  process.exit(code === 'already_running' ? 4 : 1);
}
