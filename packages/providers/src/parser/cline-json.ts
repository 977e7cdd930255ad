import type { OutputParser } from '@pawl/core/port/provider';
import type { StreamEvent } from '@pawl/schema/stream-event';
import { faultOf } from '../fault.ts';
import type { JsonObject } from '@pawl/wire/json-line';
import { amount, blockText, count, field, list, parseObject, text, toolInput, usageEvent } from '@pawl/wire/json-line';

/** The output of `cline --json`. It has no resumable session id. */
export const clineJson: OutputParser = {
  parse: parseClineLine,
  telling: ['"usage"', '"iteration_end"', '"run_result"', '"error"'],
  conversation: ['"content_start"', '"content_end"'],
};

/** Parses one line of Cline's stream. */
function parseClineLine(line: string): StreamEvent[] {
  const record = parseObject(line);
  if (record === null) return [{ type: 'unknown', text: line }];
  switch (field(record, 'type')) {
    case 'hook_event':
      return [];
    case 'agent_event':
      return agentEvent(field(record, 'event'), line);
    case 'run_result':
      return result(record);
    case 'error':
      return failure(text(field(record, 'message')));
    default:
      return [{ type: 'unknown', text: line }];
  }
}

function agentEvent(event: unknown, line: string): StreamEvent[] {
  switch (field(event, 'type')) {
    case 'content_start':
      return begun(event);
    case 'content_end':
      return finished(event);
    case 'usage':
      return [sums(event, 'totalInputTokens', 'totalOutputTokens', 'totalCacheReadTokens')];
    case 'iteration_end':
      return [usageEvent('session', { turns: count(field(event, 'iteration')) })];
    case 'error':
      // The run's result line says whether it was the end.
      return [{ type: 'retry', text: text(field(event, 'error', 'message')) }];
    case 'iteration_start':
    case 'content_update':
    case 'done':
      return [];
    default:
      return [{ type: 'unknown', text: line }];
  }
}

function begun(event: unknown): StreamEvent[] {
  switch (field(event, 'contentType')) {
    case 'text':
      return [{ type: 'text-delta', text: text(field(event, 'text')) }];
    case 'tool':
      return [
        {
          type: 'tool-call',
          id: text(field(event, 'toolCallId')),
          name: text(field(event, 'toolName')),
          input: toolInput(field(event, 'input')),
        },
      ];
    default:
      return [];
  }
}

function finished(event: unknown): StreamEvent[] {
  switch (field(event, 'contentType')) {
    case 'text':
      return [{ type: 'text', text: text(field(event, 'text')) }];
    case 'reasoning':
      return [{ type: 'thinking', text: text(field(event, 'reasoning')) }];
    case 'tool':
      return [toolResult(event)];
    default:
      return [];
  }
}

/** A tool returns a text, or the output of each of its commands. */
function toolResult(event: unknown): StreamEvent {
  const output = field(event, 'output');
  const error = text(field(event, 'error'));
  const parts = list(output);
  const results = parts.map((part) => text(field(part, 'result')) || text(field(part, 'error')));
  return {
    type: 'tool-result',
    id: text(field(event, 'toolCallId')),
    text: error || results.filter((one) => one !== '').join('\n') || blockText(output),
    isError: error !== '' || parts.some((part) => field(part, 'success') === false),
  };
}

/** Totals for the process. Input includes cached tokens. */
function sums(usage: unknown, input: string, output: string, cached: string): StreamEvent {
  const cachedTokens = count(field(usage, cached));
  return usageEvent('session', {
    inputTokens: Math.max(0, count(field(usage, input)) - cachedTokens),
    outputTokens: count(field(usage, output)),
    cachedTokens,
    costUsd: amount(field(usage, 'totalCost')),
  });
}

function result(record: JsonObject): StreamEvent[] {
  const reason = text(field(record, 'finishReason'));
  const said = text(field(record, 'text'));
  const usage = [
    sums(field(record, 'usage'), 'inputTokens', 'outputTokens', 'cacheReadTokens'),
    usageEvent('session', { turns: count(field(record, 'iterations')) }),
  ];
  if (reason === 'completed') return [...usage, { type: 'result', ok: true, text: said, fault: null }];
  return [...usage, ...failure(said || reason)];
}

function failure(message: string): StreamEvent[] {
  const fault = faultOf(null, message, 'limit');
  return [
    ...(fault === 'limit' ? [{ type: 'limit', until: null } as const] : []),
    { type: 'result', ok: false, text: message, fault },
  ];
}
