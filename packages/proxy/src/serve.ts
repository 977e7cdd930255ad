import { chmodSync, existsSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hasErrno, messageOf } from '@pawl/schema/error';
import { createModelCalls } from './credential/model-call.ts';
import type { EgressParts } from './egress/egress.ts';
import { createEgress } from './egress/egress.ts';
import { forwardRequest, openTunnel } from './egress/tunnel.ts';
import { proxyLimits } from './proxy-limit.ts';

export type ServeOptions = EgressParts & {
  /** The path of the unix socket. */
  socket: string;
  /** The port on 127.0.0.1 of an earlier proxy, whose sessions know it; null for any. */
  port: number | null;
  now?: () => number;
  log(text: string): void;
};

export type Served = {
  port: number;
  /** The number of calls and tunnels in progress. */
  active(): number;
  /** False if the socket's file was removed, so that it is unreachable. */
  isReachable(): boolean;
  /** Takes no more connections, and closes the idle ones. */
  leave(): void;
  close(): void;
};

/** Serves model calls and connections to hosts, on a unix socket and on 127.0.0.1. */
export async function serveProxy(options: ServeOptions): Promise<Served> {
  const { socket, log } = options;
  const callModel = createModelCalls({ ...options, now: options.now ?? Date.now });
  const egress = createEgress(options);
  let active = 0;
  const track = (
    what: Promise<unknown>,
    end: { once(event: 'close', act: () => void): unknown; destroy(): unknown },
  ) => {
    active++;
    end.once('close', () => active--);
    what.catch((error: unknown) => {
      log(`a request failed: ${messageOf(error)}`);
      end.destroy();
    });
  };
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    response.on('error', () => undefined);
    const isForeign = !(request.url ?? '').startsWith('/');
    track(isForeign ? forwardRequest(egress, request, response) : callModel(request, response), response);
  };
  const servers = [createServer(answer), createServer(answer)] as const;
  for (const server of servers) {
    limit(server);
    server.on('connect', (request, client, head) => track(openTunnel(egress, request, client, head), client));
  }
  const [local, loopback] = servers;
  // The caller holds the lock, so a file that is there belongs to a proxy that is gone.
  rmSync(socket, { force: true });
  await listen(local, { path: socket });
  chmodSync(socket, 0o600);
  await listenOnPort(loopback, options.port);
  const { port } = loopback.address() as AddressInfo;
  return {
    port,
    active: () => active,
    isReachable: () => existsSync(socket),
    leave() {
      for (const server of servers) {
        server.close();
        server.closeIdleConnections();
      }
    },
    close() {
      for (const server of servers) {
        server.close();
        server.closeAllConnections();
      }
    },
  };
}

/** A model may think for long, so only the CLI decides how long a call may take. */
function limit(server: Server): void {
  server.requestTimeout = 0;
  server.timeout = 0;
  server.keepAliveTimeout = proxyLimits.idleConnectionMs;
  server.maxConnections = proxyLimits.connections;
}

/** Takes the port of an earlier proxy, since running sessions know it, or any if another program has it by now. */
async function listenOnPort(server: Server, port: number | null): Promise<void> {
  const host = '127.0.0.1';
  if (port === null) return listen(server, { host, port: 0 });
  try {
    await listen(server, { host, port });
  } catch (error) {
    if (!hasErrno(error, 'EADDRINUSE', 'EACCES')) throw error;
    await listen(server, { host, port: 0 });
  }
}

function listen(server: Server, where: { path: string } | { host: string; port: number }): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen(where, () => {
    server.off('error', reject);
    resolve();
  });
  return promise;
}
