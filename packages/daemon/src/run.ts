import { homeAt } from '@pawl/protocol/node/home';
import { limits } from '@pawl/schema/limit';
import type { DataDirectory } from '@pawl/store/directory/data-directory';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { choicesOf, readConfig, timingOf } from './platform/config.ts';
import { startDaemon } from './daemon.ts';
import { openLog } from './platform/log.ts';

/** Runs a daemon until a signal or a request ends it. */
export async function runDaemon(directory: DataDirectory, onReady: (pid: number) => void): Promise<void> {
  const home = homeAt(directory.path);
  mkdirSync(home.logs, { recursive: true, mode: 0o700 });
  const { log, maskWith, rotate } = openLog(join(home.logs, 'daemon.log'));
  setInterval(rotate, limits.healthMs).unref();
  const reason = Promise.withResolvers<string>();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => reason.resolve(signal));
  // Survive a closing terminal.
  process.on('SIGHUP', () => {});
  process.on('uncaughtException', (error) => {
    log.fatal({ error: error.stack }, 'daemon crashed; agents keep running');
    process.stderr.write(`${error.stack}\n`);
    process.exit(1);
  });
  const config = await readConfig(home.config);
  const daemon = await startDaemon({
    directory,
    log,
    maskLogWith: maskWith,
    port: config.port,
    choices: choicesOf(config),
    readChoices: async () => choicesOf(await readConfig(home.config)),
    timing: timingOf(config),
    providers: config.providers,
    onStopRequested: () => reason.resolve('request'),
  });
  onReady(process.pid);
  await daemon.stop(await reason.promise);
}
