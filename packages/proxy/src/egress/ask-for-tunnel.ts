import type { Socket } from 'node:net';
import type { Target } from './host-name.ts';

/** A proxy's answer to CONNECT is short. */
const answerBytes = 8_192;

/** Asks the proxy at the other end of a socket for a connection to a host. Rejects, and closes it, unless it gives one. */
export async function askForTunnel(socket: Socket, { host, port }: Target, credentials: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const authority = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
  const authorization = credentials === '' ? '' : `Proxy-Authorization: Basic ${credentials}\r\n`;
  let head = Buffer.alloc(0);
  const take = (part: Buffer) => {
    head = Buffer.concat([head, part]);
    const headEnd = head.indexOf('\r\n\r\n');
    if (headEnd < 0) return head.length > answerBytes ? reject(new Error('its answer is too long')) : undefined;
    socket.off('data', take);
    socket.pause();
    const [, status = ''] = /^HTTP\/1\.\d (\d{3})/.exec(head.toString('latin1', 0, 12)) ?? [];
    if (!status.startsWith('2')) return reject(new Error(`it answered ${status || 'no HTTP'}`));
    const rest = head.subarray(headEnd + 4);
    if (rest.length > 0) socket.unshift(rest);
    resolve();
  };
  const end = () => reject(new Error('it closed the connection'));
  socket.on('data', take);
  socket.once('error', reject);
  socket.once('close', end);
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${authorization}\r\n`);
  try {
    await promise;
  } catch (error) {
    socket.on('error', () => undefined);
    socket.destroy();
    throw error;
  } finally {
    socket.off('error', reject);
    socket.off('close', end);
    socket.off('data', take);
  }
}

/** What a proxy is told about who uses it; empty if its URL names nobody. */
export function proxyCredentials({ username, password }: URL): string {
  if (username === '') return '';
  return Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64');
}
