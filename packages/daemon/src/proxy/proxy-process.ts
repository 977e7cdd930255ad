import type { Home } from '@pawl/protocol/node/home';
import { programs, version } from '@pawl/protocol/node/programs';
import { PawlError } from '@pawl/schema/error';
import { proxyFileSchema } from '@pawl/schema/proxy';
import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openPrivateDirectory } from '../accounts/private-file.ts';

/** A proxy that serves a home. */
export type ServingProxy = { pid: number; port: number; isCurrent: boolean };

/** How long a proxy may take to serve or to leave, and how often to look. */
const patienceMs = 20_000;
const lookMs = 20;

/** Variables of the daemon that the proxy needs to reach providers. */
const passedOn = [
  'PATH',
  'HOME',
  'LANG',
  'TZ',
  'NODE_EXTRA_CA_CERTS',
  'NODE_COMPILE_CACHE',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'HTTPS_PROXY',
  'HTTP_PROXY',
  'NO_PROXY',
  'https_proxy',
  'http_proxy',
  'no_proxy',
];

/** The proxy that serves now, or null. */
export async function findProxy(home: Home): Promise<ServingProxy | null> {
  if (!(await answers(home.proxySocket))) return null;
  try {
    const file = proxyFileSchema.parse(JSON.parse(readFileSync(join(home.proxy, 'proxy.json'), 'utf8')));
    return { pid: file.pid, port: file.port, isCurrent: file.version === version };
  } catch {
    return null;
  }
}

/** Starts a proxy that outlives this process, and waits until it serves. It leaves at once if another one does. */
export async function startProxy(
  home: Home,
  environment: NodeJS.ProcessEnv,
  onExit: () => void,
): Promise<ServingProxy> {
  openPrivateDirectory(home.proxy);
  openPrivateDirectory(dirname(home.proxySocket));
  mkdirSync(home.logs, { recursive: true, mode: 0o700 });
  const log = openSync(join(home.logs, 'proxy.log'), 'a', 0o600);
  try {
    const env = Object.fromEntries(passedOn.flatMap((name) => (environment[name] ? [[name, environment[name]]] : [])));
    const words = [...programs.proxy, 'serve', home.proxy, home.proxySocket];
    const child = spawn(process.execPath, words, { cwd: '/', env, detached: true, stdio: ['ignore', 'ignore', log] });
    child.on('error', () => undefined);
    child.on('exit', onExit);
    child.unref();
  } finally {
    closeSync(log);
  }
  const found = await waitFor(() => findProxy(home));
  if (found !== null) return found;
  throw new PawlError('host_failed', 'The proxy did not start.', {
    hint: `See ${join(home.logs, 'proxy.log')}. Without it: pawl config set proxy false`,
  });
}

/** Asks a proxy to leave, and waits until it has. */
export async function endProxy(home: Home, { pid }: ServingProxy): Promise<void> {
  try {
    process.kill(pid, 'SIGTERM');
  } catch {
    // It has left.
  }
  await waitFor(async () => ((await answers(home.proxySocket)) ? null : true));
}

async function waitFor<T>(look: () => Promise<T | null>): Promise<T | null> {
  const beganMs = performance.now();
  for (;;) {
    const found = await look();
    if (found !== null || performance.now() - beganMs > patienceMs) return found;
    await delay(lookMs);
  }
}

/** True if a process listens on a unix socket. */
function answers(path: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect({ path });
  socket.once('connect', () => resolve(true));
  socket.once('error', () => resolve(false));
  return promise.finally(() => socket.destroy());
}
