import type { Client } from '@pawl/protocol/client';
import type { Home } from '@pawl/protocol/node/home';
import { refuseMisplaced, shortageOf } from '@pawl/protocol/node/home-trouble';
import { programs } from '@pawl/protocol/node/programs';
import type { ErrorCode } from '@pawl/schema/error';
import { hasErrno, messageOf, PawlError } from '@pawl/schema/error';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { commandClient } from './client.ts';

/** How long a daemon may take to answer: adopting many agents or restoring a backup takes a while. */
const startMs = 30_000;
const retryMs = 10;
/** How long to wait for another daemon that holds the home before retrying the start. */
const otherMs = 1_000;
const stuckHint = 'It may be stopped (SIGSTOP) or stuck: check its state with `ps`, end it, and run `pawl up` again.';

/** A starting daemon's one-line report. */
type Report = { ready: true; pid: number } | { error: { code: ErrorCode; message: string; hint?: string } };

/** A client for an answering daemon, which is started if needed. */
export async function reachDaemon(home: Home): Promise<Client> {
  if (!(await answers(home))) await launchDaemon(home);
  return commandClient(home);
}

/** Sends one request, and starts the daemon only if nothing listens: the usual case needs no check beforehand. */
export function withDaemon<T>(home: Home, ask: (client: Client) => Promise<T>): Promise<T> {
  const client = commandClient(home);
  return launchDaemonFor(home, () => ask(client));
}

/** The same with a given client. */
export async function launchDaemonFor<T>(home: Home, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    // Any other failure may mean that the request arrived; then it is not repeated.
    const unheard = error instanceof PawlError && error.code === 'daemon_unreachable' && !(await answers(home));
    if (!unheard) throw error;
    await launchDaemon(home);
    return ask();
  }
}

/** True if something accepts connections on the home's socket. */
export async function answers(home: Home): Promise<boolean> {
  const deadline = performance.now() + startMs;
  while (performance.now() < deadline) {
    const errno = await tryConnection(home);
    if (errno === null) return true;
    if (!['EAGAIN', 'ECONNRESET'].includes(errno)) return false;
    // Its connection queue is full: it is up, and busy.
    await new Promise((resolve) => setTimeout(resolve, retryMs));
  }
  throw new PawlError('daemon_unreachable', 'The daemon is up, but accepts no more connections.', { hint: stuckHint });
}

/** Null if the socket accepts a connection, else why not. */
function tryConnection(home: Home): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const socket = connect(home.socket);
    socket.on('connect', () => {
      socket.destroy();
      resolve(null);
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      const { code = '' } = error;
      if (['ENOENT', 'ECONNREFUSED', 'ENOTSOCK', 'ENOTDIR', 'EAGAIN', 'ECONNRESET'].includes(code)) resolve(code);
      else reject(error);
    });
  });
}

/** Starts a daemon in the background and waits until it answers. Losing the race to another one is fine. */
export async function launchDaemon(home: Home): Promise<{ started: boolean }> {
  const deadline = performance.now() + startMs;
  if (process.env['PAWL_SANDBOX']) {
    throw new PawlError('daemon_unreachable', 'The daemon does not run, and an agent in a sandbox cannot start it.', {
      hint: 'Try again later: the person starts it with `pawl up`.',
    });
  }
  refuseMisplaced(home);
  for (;;) {
    const report = await spawnDaemon(home).catch((error: unknown) => {
      throw shortageOf(error, home) ?? error;
    });
    if ('ready' in report) return { started: true };
    const { code, message, hint } = report.error;
    if (code !== 'already_running') throw new PawlError(code, message, hint === undefined ? {} : { hint });
    // The other one is starting, and will answer; or it is stopping, and the next try will succeed.
    if (await answersWithin(home, otherMs)) return { started: false };
    if (performance.now() > deadline) {
      throw new PawlError('daemon_unreachable', `${message} But it does not answer.`, { hint: stuckHint });
    }
  }
}

async function answersWithin(home: Home, waitMs: number): Promise<boolean> {
  const deadline = performance.now() + waitMs;
  while (performance.now() < deadline) {
    if (await answers(home)) return true;
    await new Promise((resolve) => setTimeout(resolve, retryMs));
  }
  return false;
}

/** Detached: a daemon started by an agent must not look like part of that agent. */
export function daemonEnvironment(home: Home): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(
    ([name]) => name !== 'PAWL_SESSION' && !name.startsWith('PAWL_AGENT_'),
  );
  return { ...Object.fromEntries(own), PAWL_HOME: home.root };
}

async function spawnDaemon(home: Home): Promise<Report> {
  const { spawn } = await import('node:child_process');
  const { mkdirSync, openSync, closeSync } = await import('node:fs');
  try {
    mkdirSync(home.logs, { recursive: true, mode: 0o700 });
  } catch (error) {
    if (!hasErrno(error, 'ENOTDIR', 'EACCES', 'EPERM', 'EROFS', 'ENOENT', 'ELOOP')) throw error;
    throw new PawlError('forbidden', `${home.root} cannot be created: ${messageOf(error)}`, {
      hint: 'Set PAWL_HOME to a directory of your own.',
      cause: error,
    });
  }
  const log = openSync(join(home.logs, 'daemon.out'), 'a', 0o600);
  const child = spawn(process.execPath, [...programs.daemon, '--report-fd', '3'], {
    detached: true,
    stdio: ['ignore', log, log, 'pipe'],
    env: daemonEnvironment(home),
    cwd: '/',
  });
  closeSync(log);
  if (child.pid === undefined) {
    const [error] = (await once(child, 'error')) as [Error];
    throw error;
  }
  const channel = child.stdio[3] as NodeJS.ReadableStream;
  let text = '';
  const report = await new Promise<Report | null>((resolve, reject) => {
    const timer = setTimeout(() => resolve(null), startMs);
    const settle = (value: Report | null) => {
      clearTimeout(timer);
      resolve(value);
    };
    child.on('error', reject);
    channel.on('data', (data: Buffer) => {
      text += data.toString();
      if (text.includes('\n')) settle(JSON.parse(text.split('\n', 1)[0] ?? '') as Report);
    });
    channel.on('end', () => settle(null));
  });
  child.unref();
  (channel as unknown as { destroy(): void }).destroy();
  if (report !== null) return report;
  throw new PawlError('daemon_unreachable', 'The daemon did not start.', {
    hint: `See ${join(home.logs, 'daemon.out')} for the reason.`,
  });
}
