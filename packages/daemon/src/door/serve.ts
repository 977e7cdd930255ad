import type { Home } from '@pawl/protocol/node/home';
import { PawlError } from '@pawl/schema/error';
import { existsSync, linkSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import type { RequestListener, Server } from 'node:http';
import { basename, join } from 'node:path';
import type { Logger } from 'pino';
import { restoreToken } from '../platform/http/authority.ts';
import { listenOnLoopback, listenOnSocket, stopListening } from '../platform/http/listen.ts';

/** The addresses of a daemon. */
export type Served = {
  port: number;
  /** Restores the socket and the token if they were deleted. */
  restore(): Promise<void>;
  /** Stops answering; resolves when every connection is closed. */
  close(): Promise<void>;
};

type ServeOptions = {
  home: Home;
  /** 0 takes the port of the last daemon, where open pages look for this one, or a free one. */
  port: number;
  last: number | null;
  token: string;
  log: Logger;
  /** Called with the port before the socket exists, by which clients find the daemon. */
  onPort(port: number): void;
};

export async function serve(listener: RequestListener, options: ServeOptions): Promise<Served> {
  const { home, log } = options;
  const loopback = await listenOnUsualPort(listener, options);
  let socket: Server;
  try {
    options.onPort(loopback.port);
    socket = await listenOnSocket(listener, home.socket);
    linkDoor(home);
  } catch (error) {
    await stopListening([loopback.server]);
    throw error;
  }
  return {
    port: loopback.port,
    async restore() {
      if (!existsSync(home.token)) restoreToken(home.token, options.token);
      if (existsSync(home.socket)) return;
      log.warn('the socket was deleted; listening again');
      void stopListening([socket]);
      socket = await listenOnSocket(listener, home.socket);
      linkDoor(home);
    },
    async close() {
      rmSync(home.socket, { force: true });
      await stopListening([loopback.server, socket]);
    },
  };
}

async function listenOnUsualPort(listener: RequestListener, { port, last }: Pick<ServeOptions, 'port' | 'last'>) {
  if (port !== 0 || last === null) return listenOnLoopback(listener, port);
  try {
    return await listenOnLoopback(listener, last);
  } catch (error) {
    if (error instanceof PawlError && error.code === 'conflict') return listenOnLoopback(listener, 0);
    throw error;
  }
}

/**
 * Gives the socket its second name, in a directory that sandboxes see: a sandbox that outlives this daemon finds the next
 * one's socket there.
 */
function linkDoor({ door, socket }: Home): void {
  mkdirSync(door, { recursive: true, mode: 0o700 });
  const path = join(door, basename(socket));
  rmSync(`${path}.new`, { force: true });
  linkSync(socket, `${path}.new`);
  renameSync(`${path}.new`, path);
}
