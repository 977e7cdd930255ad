import { spawn } from 'node:child_process';
import type { Server, Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import { constants } from 'node:os';
import { pipeline } from 'node:stream';
import { askForTunnel, proxyCredentials } from './egress/ask-for-tunnel.ts';
import type { Target } from './egress/host-name.ts';

const passedOn = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const;

export type ForwardOptions = {
  /** The proxy's port on 127.0.0.1. */
  port: number;
  /** The proxy's unix socket. */
  socket: string;
  /** Services on the loopback outside, which the proxy leads to if it allows them. */
  services: readonly Target[];
  /** The proxy's address with the session's token; the services need it. */
  proxyUrl: string;
  command: readonly string[];
};

/**
 * Gives a network namespace its way out: 127.0.0.1:PORT leads to the proxy's unix socket, and the port of each service
 * through the proxy to that service. With a command, it runs it when the ports are open, and resolves to its exit code;
 * otherwise it never resolves.
 */
export async function forwardPorts({ port, socket, services, proxyUrl, command }: ForwardOptions): Promise<number> {
  await listen(
    createServer({ allowHalfOpen: true }, (client) => join(client, connect({ path: socket, allowHalfOpen: true }))),
    '127.0.0.1',
    port,
  );
  for (const service of services) {
    for (const host of ['127.0.0.1', '::1']) {
      const server = createServer({ allowHalfOpen: true }, (client) => void lead(client, socket, proxyUrl, service));
      // There may be no IPv6, and two services may have one port.
      await listen(server, host, service.port).catch(() => undefined);
    }
  }
  const [program, ...words] = command;
  const ended = Promise.withResolvers<number>();
  if (program === undefined) return ended.promise;
  const child = spawn(program, words, { stdio: 'inherit' });
  for (const signal of passedOn) process.on(signal, () => child.kill(signal));
  child.once('error', ended.reject);
  child.once('exit', (code, signal) => ended.resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
  return ended.promise;
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  const listening = Promise.withResolvers<void>();
  server.once('error', listening.reject);
  server.listen({ host, port }, () => listening.resolve());
  await listening.promise;
}

function join(client: Socket, server: Socket): void {
  pipeline(client, server, client, () => {
    client.destroy();
    server.destroy();
  });
}

/** Connects a client to a service through the proxy; a refused one is closed. */
async function lead(client: Socket, socket: string, proxyUrl: string, service: Target): Promise<void> {
  const proxy = connect({ path: socket, allowHalfOpen: true });
  client.once('error', () => proxy.destroy());
  client.pause();
  try {
    await askForTunnel(proxy, service, proxyCredentials(new URL(proxyUrl)));
    join(client, proxy);
  } catch {
    client.destroy();
  }
}
