import { spawn } from 'node:child_process';
import { connect, createServer } from 'node:net';
import { constants } from 'node:os';
import { pipeline } from 'node:stream';

const passedOn = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const;

/**
 * Forwards 127.0.0.1:PORT to a unix socket, for a network namespace whose only way out is that socket. With a command,
 * it runs it when the port is open, and resolves to its exit code; otherwise it never resolves.
 */
export async function forwardPort(port: number, socket: string, command: readonly string[]): Promise<number> {
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const proxy = connect({ path: socket, allowHalfOpen: true });
    pipeline(client, proxy, client, () => {
      client.destroy();
      proxy.destroy();
    });
  });
  const listening = Promise.withResolvers<void>();
  server.once('error', listening.reject);
  server.listen({ host: '127.0.0.1', port }, () => listening.resolve());
  await listening.promise;
  const [program, ...words] = command;
  const ended = Promise.withResolvers<number>();
  if (program === undefined) return ended.promise;
  const child = spawn(program, words, { stdio: 'inherit' });
  for (const signal of passedOn) process.on(signal, () => child.kill(signal));
  child.once('error', ended.reject);
  child.once('exit', (code, signal) => ended.resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
  return ended.promise;
}
