import { hasErrno, PawlError } from '@pawl/schema/error';
import { chmodSync, lstatSync, mkdirSync, rmSync } from 'node:fs';
import type { RequestListener, Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname } from 'node:path';

const headerMs = 10_000;
const requestMs = 60_000;
const connections = 1_024;

/** Serves on 127.0.0.1, on the given port, or on a free one for 0. */
export async function listenOnLoopback(
  listener: RequestListener,
  port: number,
): Promise<{ server: Server; port: number }> {
  const server = newServer(listener);
  try {
    await listen(server, { host: '127.0.0.1', port });
  } catch (error) {
    if (!hasErrno(error, 'EADDRINUSE', 'EACCES')) throw error;
    throw new PawlError('conflict', `Port ${port} is in use.`, {
      hint: 'Choose another one: `port:` in config.yaml, PAWL_PORT, or 0 for any.',
      cause: error,
    });
  }
  return { server, port: (server.address() as AddressInfo).port };
}

/**
 * Serves on a unix socket that only its owner can open. The caller holds the home's lock, so an existing socket is
 * stale.
 */
export async function listenOnSocket(listener: RequestListener, path: string): Promise<Server> {
  const directory = dirname(path);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const { uid, mode } = lstatSync(directory);
  if (uid !== process.getuid?.() || (mode & 0o077) !== 0) {
    throw new PawlError('forbidden', `${directory} is not private, so no socket is opened there.`, {
      hint: 'Choose a shorter PAWL_HOME of your own.',
    });
  }
  rmSync(path, { force: true });
  const server = newServer(listener);
  await listen(server, { path });
  chmodSync(path, 0o600);
  return server;
}

/** Stops accepting, closes open streams, and waits until every connection is closed. */
export async function stopListening(servers: Server[]): Promise<void> {
  await Promise.all(
    servers.map(
      (server) =>
        new Promise<void>((resolve) => {
          server.close(() => resolve());
          setTimeout(() => server.closeAllConnections(), closeMs).unref();
        }),
    ),
  );
}

/** How long a request in progress may take to finish. */
const closeMs = 200;

function newServer(listener: RequestListener): Server {
  const server = createServer({ headersTimeout: headerMs, requestTimeout: requestMs }, listener);
  server.maxConnections = connections;
  return server;
}

function listen(server: Server, where: { host: string; port: number } | { path: string }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(where, () => {
      server.removeListener('error', reject);
      resolve();
    });
  });
}
