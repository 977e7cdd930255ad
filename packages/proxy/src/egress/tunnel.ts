import type { IncomingMessage, ServerResponse } from 'node:http';
import { request as httpRequest, STATUS_CODES } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream';
import type { Duplex } from 'node:stream';
import { messageOf } from '@pawl/schema/error';
import { answerHeaders } from '../credential/call-key.ts';
import { proxyLimits } from '../proxy-limit.ts';
import type { Egress, Passage } from './egress.ts';
import { proxyCredentials } from './ask-for-tunnel.ts';
import { connectThrough, placeOf } from './person-proxy.ts';
import { parseTarget } from './host-name.ts';

/** Answers CONNECT: a tunnel to a checked address, whose bytes the proxy does not read. */
export async function openTunnel(egress: Egress, request: IncomingMessage, client: Duplex, head: Buffer) {
  client.on('error', () => client.destroy());
  const target = parseTarget(request.url ?? '');
  if (target === null) return endTunnel(client, 400, 'CONNECT needs a host and a port');
  const passage = await egress.passage(request, target, 'https');
  if (!passage.ok) return endTunnel(client, passage.status, `${target.host}:${target.port}: ${passage.reason}`);
  let server: Socket;
  try {
    const { addresses, through } = passage;
    server = await (through === null ? connectTo(addresses, target.port) : connectThrough(through, target));
  } catch (error) {
    return endTunnel(client, 502, `${target.host}:${target.port}: ${messageOf(error)}`);
  }
  if (client.destroyed) return void server.destroy();
  client.write('HTTP/1.1 200 Connection established\r\n\r\n');
  if (head.length > 0) server.write(head);
  pipeline(client, server, client, () => {
    server.destroy();
    client.destroy();
  });
}

/** Answers a request with an absolute `http:` URL. */
export async function forwardRequest(egress: Egress, request: IncomingMessage, response: ServerResponse) {
  const refuse = (status: number, reason: string) => {
    if (response.headersSent) return void response.destroy();
    const challenge = status === 407 ? { 'proxy-authenticate': 'Basic realm="pawl"' } : {};
    response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', ...challenge });
    response.end(`Pawl: ${reason}\n`);
  };
  const url = URL.parse(request.url ?? '');
  if (url?.protocol !== 'http:') return refuse(400, 'use CONNECT for anything but http');
  const target = parseTarget(`${url.hostname}:${url.port || '80'}`);
  if (target === null) return refuse(400, 'the URL has no valid host');
  const passage = await egress.passage(request, target, 'http');
  if (!passage.ok) return refuse(passage.status, `${target.host}:${target.port}: ${passage.reason}`);
  const sent = httpRequest({
    ...wayTo(passage, url, target.port),
    method: request.method,
    agent: false,
  });
  for (const [name, value] of Object.entries(answerHeaders(request.headers)))
    if (value !== undefined) sent.setHeader(name, value);
  sent.setHeader('host', url.host);
  const credentials = passage.through === null ? '' : proxyCredentials(passage.through);
  if (credentials !== '') sent.setHeader('proxy-authorization', `Basic ${credentials}`);
  sent.on('error', (error) => {
    request.unpipe(sent);
    request.resume();
    refuse(502, `${target.host}:${target.port}: ${messageOf(error)}`);
  });
  sent.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage, answerHeaders(answer.headers));
    pipeline(answer, response, () => undefined);
  });
  response.once('close', () => {
    if (!response.writableFinished) sent.destroy();
  });
  request.on('error', () => sent.destroy());
  request.pipe(sent);
}

/** Where a plain request goes: to the host itself, or with its whole URL to a person's proxy. */
function wayTo({ addresses, through }: Passage & { ok: true }, url: URL, port: number) {
  if (through === null) return { host: addresses[0], port, path: `${url.pathname}${url.search}` };
  return { ...placeOf(through), protocol: 'http:', path: `${url.origin}${url.pathname}${url.search}` };
}

/** Connects to the first of some addresses that answers. */
async function connectTo(addresses: readonly string[], port: number): Promise<Socket> {
  let failure: unknown = new Error('no address');
  for (const host of addresses) {
    try {
      return await connectOnce(host, port);
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

function connectOnce(host: string, port: number): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const socket = connect({ host, port, allowHalfOpen: true });
  const timer = setTimeout(() => socket.destroy(new Error('no answer')), proxyLimits.connectMs);
  socket.once('error', reject);
  socket.once('connect', () => resolve(socket));
  return promise.finally(() => clearTimeout(timer));
}

function endTunnel(client: Duplex, status: number, reason: string): void {
  const text = `Pawl: ${reason}\n`;
  const challenge = status === 407 ? 'Proxy-Authenticate: Basic realm="pawl"\r\n' : '';
  client.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${challenge}Content-Type: text/plain; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`,
  );
}
