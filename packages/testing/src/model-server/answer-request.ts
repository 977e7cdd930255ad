import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { messageOf } from '@pawl/schema/error';
import type { Api } from './api/api.ts';
import { readBody } from './body.ts';
import { chooseScenario } from './choose-scenario.ts';
import type { Conversation } from './conversation.ts';
import { fullName, standingOf } from './conversation.ts';
import { sendAnswer, sendFault, sendJson, sendStream } from './delivery.ts';
import type { Json } from './json.ts';
import { objectOf } from './json.ts';
import { fingerprintOf, keyOf } from './key.ts';
import { modelServerLimits } from './limit.ts';
import { modelList } from './model-list.ts';
import { play } from './play.ts';
import type { Fault, Reply, Writing } from './reply.ts';
import type { RequestRecord } from './request-record.ts';
import { keepRecord, marksIn } from './request-record.ts';
import type { Route } from './route.ts';
import { routeOf } from './route.ts';
import type { ErrorKind, Scenario } from './step.ts';

/** Shared by all requests to one server. Only the keys can change the answer to equal requests. */
export type ServerState = {
  scenarios: Record<string, Scenario>;
  fallback: string;
  keys: Map<string, string>;
  validKeys: Set<string> | null;
  signature: string;
  now: () => number;
  requests: RequestRecord[];
};

type Exchange = {
  state: ServerState;
  request: IncomingMessage;
  response: ServerResponse;
  url: URL;
  key: string;
  record: RequestRecord;
};

/** Answers any request; never throws. */
export async function answerRequest(
  state: ServerState,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const method = request.method ?? 'GET';
  const url = new URL(`http://127.0.0.1${/^\/(?!\/)/.test(request.url ?? '') ? request.url : '/'}`);
  const route = routeOf(method, url.pathname);
  const key = keyOf(request.headers, url.searchParams);
  const api = route.kind === 'alive' ? null : route.api;
  const record: RequestRecord = {
    method,
    path: url.pathname,
    api: api?.name ?? '',
    kind: route.kind,
    scenario: null,
    step: 0,
    key: fingerprintOf(key),
    userTurns: 0,
    model: '',
    stream: false,
    tools: [],
    marks: [],
    status: null,
  };
  keepRecord(state.requests, record);
  response.once('close', () => (record.status = response.headersSent ? response.statusCode : null));
  try {
    await answerRoute({ state, request, response, url, key, record }, route);
  } catch (error) {
    if (response.headersSent || api === null) response.destroy();
    else sendFault(response, api.fault(plainFault('server-error', messageOf(error))));
  }
}

async function answerRoute(exchange: Exchange, route: Route): Promise<void> {
  const { state, request, response, url, key } = exchange;
  if (route.kind === 'alive') return sendJson(response, 200, { status: 'ok' });
  const { api } = route;
  const body = await readBody(request);
  if (body === null) {
    const text = `The request is larger than ${modelServerLimits.bodyBytes} bytes.`;
    return sendFault(response, { ...api.fault(plainFault('bad-request', text)), status: 413 });
  }
  if (state.validKeys !== null && !state.validKeys.has(key)) {
    return sendFault(response, api.fault(plainFault('auth')));
  }
  if (route.kind === 'unknown') {
    const text = `There is no ${request.method} ${url.pathname} here.`;
    return sendFault(response, { ...api.fault(plainFault('bad-request', text)), status: 404 });
  }
  if (route.kind === 'models') return sendJson(response, 200, modelList(api.name === 'gemini'));
  if (route.kind === 'count') return sendJson(response, 200, tokenCount(api, body));
  exchange.record.marks = marksIn(body);
  const parsed = parse(body);
  if (parsed === null) return sendFault(response, api.fault(plainFault('bad-request', 'The body is no JSON object.')));
  const read = api.read(parsed);
  const conversation = { ...read, model: route.model ?? read.model, stream: route.stream ?? read.stream };
  await converse(exchange, route.prefix, api, conversation, hashOf(url.pathname, body));
}

async function converse(
  { state, response, url, key, record }: Exchange,
  prefix: string | null,
  api: Api,
  conversation: Conversation,
  id: string,
): Promise<void> {
  const standing = standingOf(conversation.entries);
  const { model, stream, entries, tools } = conversation;
  const { scenarios, keys, fallback, signature } = state;
  const choice = chooseScenario({ prefix, key, entries, standing, scenarios, keys, fallback });
  const seen = { model, stream, userTurns: standing.userTurns, step: standing.answers + 1 };
  Object.assign(record, seen, { scenario: choice.ok ? choice.name : null, tools: tools.map(fullName) });
  const nowSeconds = Math.floor(state.now() / 1_000);
  const reply: Reply = choice.ok
    ? play({ conversation, standing, scenario: choice.scenario, key, id, nowSeconds, signature })
    : plainFault('bad-request', choice.problem);
  if (reply.kind === 'fault') return sendFault(response, api.fault(reply));
  // Sends nothing until the client leaves or the server closes.
  if (reply.kind === 'hang') return;
  const writing: Writing = { id, model, created: nowSeconds };
  if (!stream) return sendAnswer(response, reply, api.answer(reply, writing));
  const style = api.name === 'gemini' && url.searchParams.get('alt') !== 'sse' ? 'array' : 'events';
  await sendStream(response, reply, api.stream(reply, writing), style);
}

function plainFault(error: ErrorKind, message?: string): Fault {
  return { kind: 'fault', error, resetsAt: null, resetsInSeconds: null, ...(message === undefined ? {} : { message }) };
}

function parse(body: Buffer): Json | null {
  try {
    const value: unknown = JSON.parse(body.toString());
    return value !== null && typeof value === 'object' && !Array.isArray(value) ? objectOf(value) : null;
  } catch {
    return null;
  }
}

/** About four bytes per token; what matters is that equal requests count equally. */
function tokenCount(api: Api, body: Buffer): Json {
  const tokens = Math.ceil(body.length / 4);
  return api.name === 'gemini' ? { totalTokens: tokens } : { input_tokens: tokens };
}

function hashOf(path: string, body: Buffer): string {
  return createHash('sha256').update(path).update(body).digest('hex').slice(0, 24);
}
