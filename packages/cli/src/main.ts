import { programs } from '@pawl/protocol/node/programs';
import { PawlError } from '@pawl/schema/error';
import type { Command } from 'commander';
import { reportFailure } from './failure.ts';
import { buildProgram } from './program.ts';

async function main(words: string[]): Promise<void> {
  if (words[0] === 'scripted-agent') return runScriptedAgent(words.slice(1));
  const json = words.includes('--json');
  const program = buildProgram((code) => (process.exitCode = code), words[0]);
  // Prints commander's errors like all others.
  if (json) silence(program);
  try {
    await program.parseAsync(words, { from: 'user' });
  } catch (error) {
    if (!isUsage(error)) process.exitCode = reportFailure(error, json);
    else if (error.exitCode === 0) process.exitCode = 0;
    else process.exitCode = json ? reportFailure(new PawlError('usage', error.message), json) : 2;
  }
}

/** Silences stderr for a command and its subcommands. */
function silence(command: Command): void {
  command.configureOutput({ writeErr: () => {} });
  for (const each of command.commands) silence(each);
}

/** Plays a scenario in the calling terminal, and exits like it. */
async function runScriptedAgent(words: string[]): Promise<void> {
  const { spawnSync } = await import('node:child_process');
  const { status, signal } = spawnSync(process.execPath, [...programs.scriptedAgent, ...words], { stdio: 'inherit' });
  if (signal !== null) process.kill(process.pid, signal);
  process.exitCode = status ?? 1;
}

/** Commander has already printed its error, or the requested help. */
function isUsage(error: unknown): error is Error & { exitCode: number } {
  return (
    error instanceof Error && 'exitCode' in error && String((error as { code?: unknown }).code).startsWith('commander.')
  );
}

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader of a pipe has gone (`pawl logs | head`), which is no failure.
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});
process.on('SIGINT', () => process.exit(130));
process.on('SIGTERM', () => process.exit(143));
await main(process.argv.slice(2));
