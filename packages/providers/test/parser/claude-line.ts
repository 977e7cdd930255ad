import type { StreamEvent } from '@pawl/schema/stream-event';
import { expect } from 'vitest';
import { parseClaudeLine } from '../../src/parser/claude-stream-json.ts';

const sessionId = 'b6f4c1de-0000-4000-8000-000000000001';
const session: StreamEvent = { type: 'session', providerSessionId: sessionId };

/** Parses a line that is made from a value, with the session id every real line carries. */
export function parse(value: Record<string, unknown>): StreamEvent[] {
  const [first, ...events] = parseClaudeLine(JSON.stringify({ ...value, session_id: sessionId }));
  expect(first).toEqual(session);
  return events;
}

export const message = (role: 'assistant' | 'user', content: unknown) => ({ type: role, message: { role, content } });

export const success = {
  type: 'result',
  subtype: 'success',
  is_error: false,
  result: 'All done.',
  num_turns: 2,
  total_cost_usd: 0.0114,
  usage: { input_tokens: 30, output_tokens: 84, cache_read_input_tokens: 600, cache_creation_input_tokens: 20 },
  terminal_reason: 'completed',
};
/** One more model call, as what a tool gave leads to. */
export const oneTurn: StreamEvent = {
  type: 'usage',
  scope: 'call',
  inputTokens: null,
  outputTokens: null,
  cachedTokens: null,
  costUsd: null,
  turns: 1,
};
export const successEvents: StreamEvent[] = [
  {
    type: 'usage',
    scope: 'session',
    inputTokens: 50,
    outputTokens: 84,
    cachedTokens: 600,
    costUsd: 0.0114,
    turns: 2,
  },
  { type: 'result', ok: true, text: 'All done.', fault: null },
];
