import type { OutputParser } from '@pawl/core/port/provider';
import type { StreamEvent } from '@pawl/schema/stream-event';
import { faultOf } from '../fault.ts';
import type { JsonObject } from '@pawl/wire/json-line';
import {
  asObject,
  blockText,
  count,
  field,
  parseObject,
  sessionEvents,
  text,
  toolInput,
  usageEvent,
} from '@pawl/wire/json-line';

/** Gemini's `--output-format stream-json`. */
export const geminiStreamJson: OutputParser = {
  parse: parseGeminiLine,
  telling: ['"init"', '"result"', '"tool_result"'],
  conversation: ['"message"', '"tool_use"', '"tool_result"'],
};

/** Parses one line of Gemini's stream. */
function parseGeminiLine(line: string): StreamEvent[] {
  const record = parseObject(line);
  if (record === null) return [{ type: 'unknown', text: line }];
  switch (field(record, 'type')) {
    case 'init':
      return sessionEvents(field(record, 'session_id'));
    case 'message':
      return message(record);
    case 'tool_use':
      return [
        {
          type: 'tool-call',
          id: text(field(record, 'tool_id')),
          name: text(field(record, 'tool_name')),
          input: toolInput(field(record, 'parameters')),
        },
      ];
    case 'tool_result':
      return [
        {
          type: 'tool-result',
          id: text(field(record, 'tool_id')),
          text: text(field(record, 'output')) || text(field(record, 'error', 'message')),
          isError: field(record, 'status') === 'error',
        },
        usageEvent('call', { turns: 1 }),
      ];
    case 'error':
      return [{ type: 'retry', text: text(field(record, 'message')) }];
    case 'result':
      return result(record);
    default:
      return [{ type: 'unknown', text: line }];
  }
}

/** Text pieces are never repeated as a whole. */
function message(record: JsonObject): StreamEvent[] {
  const said = blockText(field(record, 'content'));
  if (field(record, 'role') === 'user') return [{ type: 'echo', text: said }];
  return said === '' ? [] : [{ type: 'text', text: said, piece: true }];
}

function result(record: JsonObject): StreamEvent[] {
  const ok = field(record, 'status') === 'success';
  const said = ok ? '' : text(field(record, 'error', 'message')) || text(field(record, 'status'));
  const fault = ok ? null : faultOf(null, said, 'transient');
  return [
    ...stats(asObject(field(record, 'stats'))),
    ...(fault === 'limit' ? [{ type: 'limit', until: null } as const] : []),
    { type: 'result', ok, text: said, fault },
  ];
}

/** Input includes cached tokens; thoughts are only in the total. */
function stats(told: JsonObject | null): StreamEvent[] {
  if (told === null) return [];
  const input = count(field(told, 'input_tokens'));
  const cachedTokens = count(field(told, 'cached'));
  return [
    usageEvent('session', {
      inputTokens: Math.max(0, input - cachedTokens),
      outputTokens: Math.max(count(field(told, 'output_tokens')), count(field(told, 'total_tokens')) - input),
      cachedTokens,
      turns: count(field(told, 'tool_calls')) + 1,
    }),
  ];
}
