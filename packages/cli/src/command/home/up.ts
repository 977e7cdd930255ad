import { commandClient } from '../../daemon/client.ts';
import type { Home } from '@pawl/protocol/node/home';
import { programs } from '@pawl/protocol/node/programs';
import type { DaemonView } from '@pawl/protocol/daemon/view';
import { PawlError } from '@pawl/schema/error';
import { spawn } from 'node:child_process';
import type { CommandContext } from '../../context.ts';
import { answers, daemonEnvironment, launchDaemon } from '../../daemon/launch.ts';

/** Attempts to reach an answering daemon. */
const mostAttempts = 3;

/** Starts the daemon, in the background or in the foreground. */
export async function up(context: CommandContext, options: { foreground?: boolean }): Promise<number> {
  if (options.foreground) return runHere(context);
  const { started, daemon } = await ensureDaemon(context.home);
  context.answer('daemon', { started, ...daemon }, () =>
    started
      ? `pawl is up (pid ${daemon.pid}, http://127.0.0.1:${daemon.port}, home ${daemon.home})`
      : `pawl was already up (pid ${daemon.pid}, home ${daemon.home})`,
  );
  return 0;
}

/**
 * Returns an answering daemon, and starts one if there is none. A killed daemon may accept connections for another
 * moment.
 */
async function ensureDaemon(home: Home): Promise<{ started: boolean; daemon: DaemonView }> {
  let { started } = (await answers(home)) ? { started: false } : await launchDaemon(home);
  for (let attempt = 1; ; attempt++) {
    try {
      return { started, daemon: await commandClient(home).daemon() };
    } catch (error) {
      const isGone = error instanceof PawlError && error.code === 'daemon_unreachable';
      if (!isGone || attempt === mostAttempts) throw error;
      ({ started } = await launchDaemon(home));
    }
  }
}

function runHere(context: CommandContext): Promise<number> {
  const child = spawn(process.execPath, programs.daemon, {
    stdio: 'inherit',
    env: daemonEnvironment(context.home),
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    // The daemon must exit first, then this process.
    process.removeAllListeners(signal);
    process.on(signal, () => child.kill(signal));
  }
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => resolve(code ?? (signal === 'SIGKILL' ? 137 : 143)));
  });
}
