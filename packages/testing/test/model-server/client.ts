import type { ModelServer } from '../../src/model-server/server.ts';

export type Json = Record<string, unknown>;

/** How a test speaks to one vendor's API: a request with or without tools, and what the answer means. */
export type Vendor = {
  name: string;
  path(stream: boolean): string;
  /** The header that carries the key. */
  header(key: string): Record<string, string>;
  body(turns: Turn[], options: { stream: boolean; tools: Json[] }): Json;
  tool(name: string, schema: Json): Json;
};

/** What was said, in the order it was. */
export type Turn = { user: string } | { model: string } | { call: string; input: Json } | { result: string };

export type Parsed = { text: string; calls: { name: string; input: Json }[]; usage: Json };

/** Sends a request; without a header for the key it has none. */
export function send(
  server: ModelServer,
  vendor: Vendor,
  turns: Turn[],
  options: { stream?: boolean; tools?: Json[]; prefix?: string; key?: string; signal?: AbortSignal } = {},
): Promise<Response> {
  const { stream = false, tools = [shellTool(vendor)], prefix = '', key = 'sk-test', signal = null } = options;
  return fetch(`${server.url}${prefix}${vendor.path(stream)}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...vendor.header(key) },
    body: JSON.stringify(vendor.body(turns, { stream, tools })),
    signal,
  });
}

/** A shell tool as a client would offer it. */
export function shellTool(vendor: Vendor): Json {
  const properties = { command: { type: 'string' }, description: { type: 'string' } };
  return vendor.tool('Bash', { type: 'object', properties, required: ['command', 'description'] });
}

/** The JSON of every event of a stream, in order; `[DONE]` stays a text. */
export function eventsOf(text: string): (Json | string)[] {
  return text
    .split(/\r?\n\r?\n/)
    .map((block) => /^data: (.*)$/m.exec(block)?.[1])
    .filter((data) => data !== undefined)
    .map((data) => (data === '[DONE]' ? data : (JSON.parse(data) as Json)));
}
