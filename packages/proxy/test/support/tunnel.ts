import type { AddressInfo } from 'node:net';
import { connect, createServer } from 'node:net';
import type { TestProxy } from './serve.ts';

export const basic = (token: string) => `Basic ${Buffer.from(`session:${token}`).toString('base64')}`;

/** A server that repeats what it gets, and its port. */
export async function echoServer() {
  const server = createServer((socket) => socket.pipe(socket)).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return { port: (server.address() as AddressInfo).port, [Symbol.dispose]: () => void server.close() };
}

/** Sends CONNECT and then a line; gives all that comes back. */
export async function tunnel({ served }: TestProxy, target: string, token: string | null): Promise<string> {
  const socket = connect(served.port, '127.0.0.1');
  const authorization = token === null ? '' : `Proxy-Authorization: ${basic(token)}\r\n`;
  socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n${authorization}\r\n`);
  let answer = '';
  for await (const piece of socket) {
    const isFirst = answer === '';
    answer += String(piece);
    if (isFirst && answer.startsWith('HTTP/1.1 200')) socket.end('hello through the tunnel');
  }
  return answer;
}
