import { homeClient } from '@pawl/protocol/node/home-client';
import type { Client } from '@pawl/protocol/client';
import { homeAt } from '@pawl/protocol/node/home';
import type { CrashPoint } from '@pawl/schema/crash-point';
import { openDataDirectory } from '@pawl/store/directory/data-directory';
import { giveDatabase, switchSandboxOff } from '@pawl/testing/home-database';
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..', '..', '..');
/** The bundle, as users run it, and the same with its crash points. */
const entries = {
  bundle: join(root, 'dist', 'daemon.mjs'),
  crashing: join(root, '.cache', 'crash-daemon', 'daemon.mjs'),
};

export type DaemonReport = { ready: true; pid: number } | { error: { code: string; message: string; hint?: string } };

/** A daemon in its own process, which a test may kill. */
export type DaemonProcess = {
  child: ChildProcess;
  pid: number;
  client: Client;
  /** Resolves with its report, or null if it died before. */
  report: Promise<DaemonReport | null>;
  exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  kill(signal?: NodeJS.Signals): Promise<void>;
};

/** Starts a daemon process on a home. */
export function spawnDaemon(
  home: string,
  options: { crashAt?: CrashPoint; crashAtFile?: string; env?: NodeJS.ProcessEnv; openFiles?: number } = {},
): DaemonProcess {
  const crashAt = options.crashAtFile === undefined ? options.crashAt : `file:${options.crashAtFile}`;
  const entry = crashAt === undefined ? entries.bundle : entries.crashing;
  const command = [process.execPath, entry, '--report-fd', '3'];
  const limited =
    options.openFiles === undefined
      ? command
      : ['sh', '-c', `ulimit -n ${options.openFiles}; exec "$@"`, 'sh', ...command];
  const child = spawn(limited[0] ?? '', limited.slice(1), {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    env: {
      ...process.env,
      ...options.env,
      PAWL_HOME: home,
      ...(crashAt === undefined ? {} : { PAWL_CRASH_AT: crashAt }),
    },
  });
  const exited = once(child, 'exit').then(([code, signal]) => ({
    code: code as number | null,
    signal: signal as NodeJS.Signals | null,
  }));
  return {
    child,
    pid: child.pid ?? 0,
    client: homeClient(homeAt(home)),
    report: readReport(child.stdio[3] as NodeJS.ReadableStream),
    exited,
    async kill(signal = 'SIGKILL') {
      child.kill(signal);
      await exited;
    },
  };
}

async function readReport(channel: NodeJS.ReadableStream): Promise<DaemonReport | null> {
  let text = '';
  for await (const part of channel) text += String(part);
  return text === '' ? null : (JSON.parse(text) as DaemonReport);
}

/** Starts a daemon on a home with existing tables, without a sandbox unless the home's config says so, and waits until it answers. */
export async function readyDaemon(
  home: string,
  options: Parameters<typeof spawnDaemon>[1] = {},
): Promise<DaemonProcess> {
  await giveDatabase(openDataDirectory(home).path);
  await switchSandboxOff(home);
  const daemon = spawnDaemon(home, options);
  const report = await daemon.report;
  if (report === null || !('ready' in report)) throw new Error(`the daemon did not come up: ${JSON.stringify(report)}`);
  return daemon;
}
