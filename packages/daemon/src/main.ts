import { leaveSessionGroup } from '@pawl/host/session/control-group';
import { homeAt } from '@pawl/protocol/node/home';
import { refuseMisplaced, shortageOf } from '@pawl/protocol/node/home-trouble';
import { messageOf, PawlError } from '@pawl/schema/error';
import { lockDataDirectory, openDataDirectory } from '@pawl/store/directory/data-directory';
import { sqliteFailureOf } from '@pawl/store/engine/sqlite-failure';
import { closeSync, writeSync } from 'node:fs';

/** The starter waits on this descriptor for one line: ready, or why not. */
const reportFd = process.argv.includes('--report-fd')
  ? Number(process.argv[process.argv.indexOf('--report-fd') + 1])
  : null;

function report(line: object): void {
  if (reportFd === null) return;
  try {
    writeSync(reportFd, `${JSON.stringify(line)}\n`);
    closeSync(reportFd);
  } catch {
    // The starter has stopped waiting.
  }
}

/** Takes the lock first and loads everything heavy after it, so that the loser of a race exits at once. */
async function main(): Promise<void> {
  const home = homeAt();
  refuseMisplaced(home);
  const directory = openDataDirectory(home.root);
  const lock = lockDataDirectory(directory);
  // If an agent started us, we must not end with its session.
  leaveSessionGroup();
  const { runDaemon } = await import('./run.ts');
  await runDaemon(directory, (pid) => report({ ready: true, pid }));
  lock.release();
}

function failureOf(error: unknown): PawlError {
  const known = error instanceof PawlError ? error : sqliteFailureOf(error);
  return shortageOf(error, homeAt()) ?? known ?? new PawlError('internal', messageOf(error));
}

try {
  await main();
  process.exit(0);
} catch (error) {
  const { code, message, hint } = failureOf(error);
  report({ error: { code, message, hint } });
  process.stderr.write(`${message}${hint === undefined ? '' : `\n  → ${hint}`}\n`);
  if (code === 'internal' && error instanceof Error) process.stderr.write(`${error.stack}\n`);
  process.exit(code === 'already_running' ? 4 : 1);
}
