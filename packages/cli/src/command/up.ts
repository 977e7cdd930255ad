import { createClient } from '@pawl/protocol/client';
import { programs } from '@pawl/protocol/programs';
import { spawn } from 'node:child_process';
import type { CommandContext } from '../context.ts';
import { answers, launchDaemon } from '../launch.ts';

/** Starts the daemon, in the background or here. */
export async function up(context: CommandContext, options: { foreground?: boolean }): Promise<number> {
  if (options.foreground) return runHere(context);
  const running = await answers(context.home);
  const started = running ? false : (await launchDaemon(context.home)).started;
  const daemon = await createClient(context.home).daemon();
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
    env: { ...process.env, PAWL_HOME: context.home.root },
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => resolve(code ?? (signal === 'SIGKILL' ? 137 : 143)));
  });
}
