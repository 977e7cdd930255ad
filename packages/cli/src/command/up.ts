import { commandClient } from '../client.ts';
import { programs } from '@pawl/protocol/programs';
import { spawn } from 'node:child_process';
import type { CommandContext } from '../context.ts';
import { answers, daemonEnvironment, launchDaemon } from '../launch.ts';

/** Starts the daemon, in the background or here. */
export async function up(context: CommandContext, options: { foreground?: boolean }): Promise<number> {
  if (options.foreground) return runHere(context);
  const running = await answers(context.home);
  const started = running ? false : (await launchDaemon(context.home)).started;
  const daemon = await commandClient(context.home).daemon();
  context.answer('daemon', { started, ...daemon }, () =>
    started
      ? `pawl is up (pid ${daemon.pid}, http://127.0.0.1:${daemon.port}, home ${daemon.home})`
      : `pawl was already up (pid ${daemon.pid}, home ${daemon.home})`,
  );
  return 0;
}

function runHere(context: CommandContext): Promise<number> {
  const child = spawn(process.execPath, programs.daemon, {
    stdio: 'inherit',
    env: daemonEnvironment(context.home),
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    // It is for the daemon to leave, and for us to leave after it.
    process.removeAllListeners(signal);
    process.on(signal, () => child.kill(signal));
  }
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => resolve(code ?? (signal === 'SIGKILL' ? 137 : 143)));
  });
}
