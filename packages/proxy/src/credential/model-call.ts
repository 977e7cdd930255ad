import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { pipeline } from 'node:stream';
import { messageOf } from '@pawl/schema/error';
import type { Grant } from '@pawl/schema/proxy';
import { limitEnd, limitStatuses } from '../count/limit-end.ts';
import { readUsage } from '../count/usage-reader.ts';
import type { Grants } from '../grants.ts';
import { keyOf } from '../grants.ts';
import { proxyLimits } from '../proxy-limit.ts';
import type { SessionRecords } from '../session-record.ts';
import { answerHeaders, tokenOf, withKey } from './call-key.ts';
import { refuseCall } from './refusal.ts';

export type ModelCalls = { grants: Grants; records: SessionRecords; now(): number };

/** Connections to providers stay open between calls; a person's own proxy is used if the environment names one. */
function createAgents(): { http: HttpAgent; https: HttpsAgent } {
  const options = { keepAlive: true, scheduling: 'lifo', proxyEnv: process.env } as const;
  return { http: new HttpAgent(options), https: new HttpsAgent(options) };
}

/**
 * Forwards model calls to the provider of the session whose token they have, with the key in its place. Both directions
 * are streamed, and end together.
 */
export function createModelCalls({ grants, records, now }: ModelCalls) {
  const agents = createAgents();

  return async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A path that begins with two slashes would otherwise name another host.
    const url = new URL(`http://proxy${request.url ?? '/'}`);
    const refuse = (status: number, message: string) => refuseCall(response, url.pathname, status, message);
    const token = tokenOf(request.headers, url);
    const grant = await grants.find(token);
    if (grant === null || grant.upstream === null) return refuse(401, 'Pawl: this is no token of a running session.');
    const { upstream } = grant;
    const server = new URL(upstream.baseUrl);
    if (!isBelow(url.pathname, server.pathname))
      return refuse(403, `Pawl: ${url.pathname} is no path of the provider.`);
    if (grant.tokens !== null && records.used(grant) >= grant.tokens) {
      records.noteOverBudget(grant);
      return refuse(400, `Pawl: the token budget is used up: ${records.used(grant)} of ${grant.tokens}. Stop here.`);
    }
    const key = await keyOf(upstream);
    if (key === null) return refuse(401, 'Pawl: the account of this session has no key any more.');
    if (response.destroyed) return;
    const isSecure = server.protocol === 'https:';
    const send = isSecure ? httpsRequest : httpRequest;
    const sent = send(server.origin, {
      method: request.method,
      ...withKey(request.headers, url, { token, key }),
      agent: isSecure ? agents.https : agents.http,
    });
    forward({ request, response, sent, onAnswer: (answered, requestBytes) => observe(grant, answered, requestBytes) });
    sent.on('error', (error) => refuse(502, `Pawl: could not reach ${server.host}: ${messageOf(error)}.`));
  };

  /** Counts the tokens of an answer as it passes, and notes a limit. */
  function observe(grant: Grant, answer: IncomingMessage, requestBytes: () => number): void {
    const { statusCode: status = 0, headers } = answer;
    if (limitStatuses.includes(status)) return observeLimit(grant, answer);
    if (status >= 300) return;
    const reader = readUsage(headers['content-type'] ?? '');
    answer.on('data', (bytes: Buffer) => reader.push(bytes));
    answer.once('close', () => {
      const counted = reader.end(requestBytes());
      if (counted !== null) records.noteUsage(grant, counted);
    });
  }

  function observeLimit(grant: Grant, answer: IncomingMessage): void {
    let body = '';
    answer.on('data', (bytes: Buffer) => {
      if (body.length < proxyLimits.errorBytes) body += bytes.toString('utf8');
    });
    answer.once('close', () => {
      const at = now();
      records.noteLimit(grant, { status: answer.statusCode ?? 0, at, until: limitEnd(answer.headers, body, at) });
    });
  }
}

type Exchange = {
  request: IncomingMessage;
  response: ServerResponse;
  sent: ClientRequest;
  onAnswer(answer: IncomingMessage, requestBytes: () => number): void;
};

/** Streams a request out and its answer back; when one side leaves, the other is cut off. */
function forward({ request, response, sent, onAnswer }: Exchange): void {
  let requestBytes = 0;
  request.on('data', (bytes: Buffer) => (requestBytes += bytes.length));
  sent.on('response', (answer) => {
    onAnswer(answer, () => requestBytes);
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage, answerHeaders(answer.headers));
    response.flushHeaders();
    pipeline(answer, response, () => undefined);
  });
  response.once('close', () => {
    if (!response.writableFinished) sent.destroy();
  });
  sent.on('error', () => {
    // Read the rest of the request, so that the client gets to read the answer.
    request.unpipe(sent);
    request.resume();
  });
  request.on('error', () => sent.destroy());
  request.pipe(sent);
}

/** True if a path is that of a server's base URL, or below it. */
function isBelow(path: string, base: string): boolean {
  const folder = base.endsWith('/') ? base : `${base}/`;
  return path === base || path.startsWith(folder);
}
