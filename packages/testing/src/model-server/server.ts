import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PawlError } from '@pawl/schema/error';
import { answerRequest } from './answer-request.ts';
import { builtInScenarios } from './built-in.ts';
import { modelServerLimits } from './limit.ts';
import type { RequestRecord } from './request-record.ts';
import type { ScenarioInput } from './step.ts';
import { scenarioSchema } from './step.ts';

export type ModelServerOptions = {
  /** 0, the default, takes any free one. */
  port?: number;
  /** Scenarios besides the built-in ones; the same name replaces one. */
  scenarios?: Record<string, ScenarioInput>;
  /** The default scenario; `work` by default. */
  fallback?: string;
  /** Scenarios by API key. */
  keys?: Record<string, string>;
  /** If given, every other key is refused. */
  validKeys?: string[];
  /** The end of every text. `{turns}` is the number of user turns. */
  signature?: string;
  /** Milliseconds since 1970. */
  now?: () => number;
};

export type ModelServer = {
  /** Without a slash at the end. */
  url: string;
  port: number;
  /** The requests, oldest first; only the latest are kept. */
  requests: RequestRecord[];
  /** Scenarios by API key, changeable at any time: a test ends a limit this way. */
  keys: Map<string, string>;
  /** Closes every connection, including hanging ones. */
  close(): Promise<void>;
} & AsyncDisposable;

/** Starts a server on 127.0.0.1 that speaks the APIs of four vendors and answers by script. */
export async function startModelServer(options: ModelServerOptions = {}): Promise<ModelServer> {
  const own = Object.entries(options.scenarios ?? {}).map(([name, input]) => [name, scenarioSchema.parse(input)]);
  const scenarios = { ...builtInScenarios, ...Object.fromEntries(own) };
  const fallback = options.fallback ?? 'work';
  if (!Object.hasOwn(scenarios, fallback)) {
    throw new PawlError('not_found', `There is no scenario ${fallback}.`, {
      hint: `Name one of ${Object.keys(scenarios).join(', ')}, or a file.`,
    });
  }
  const state = {
    scenarios,
    fallback,
    keys: new Map(Object.entries(options.keys ?? {})),
    validKeys: options.validKeys === undefined ? null : new Set(options.validKeys),
    signature: options.signature ?? 'user turns seen: {turns}',
    now: options.now ?? Date.now,
    requests: [] as RequestRecord[],
  };
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    // A client that disconnects is not our failure.
    response.on('error', () => {});
    request.on('error', () => {});
    void answerRequest(state, request, response);
  });
  server.maxConnections = modelServerLimits.connections;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    await closed;
  };
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    requests: state.requests,
    keys: state.keys,
    close,
    [Symbol.asyncDispose]: close,
  };
}
