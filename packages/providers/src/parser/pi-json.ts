import type { OutputParser } from '@pawl/core/port/provider';
import type { StreamEvent } from '@pawl/schema/stream-event';
import { faultOf } from '../fault.ts';
import type { JsonObject } from '@pawl/wire/json-line';
import {
  amount,
  blockText,
  count,
  field,
  list,
  parseObject,
  sessionEvents,
  text,
  toolInput,
  usageEvent,
} from '@pawl/wire/json-line';

/** The output of `pi --mode json`. Its exit code is always 0, so only these lines tell how a turn ended. */
export const piJson: OutputParser = {
  parse: parsePiLine,
  telling: ['"session"', '"message_end"', '"agent_end"', '"auto_retry_end"'],
  conversation: ['"message_end"', '"text_delta"', '"tool_execution_start"', '"tool_execution_end"'],
};

/** Parses one line of pi's stream. */
function parsePiLine(line: string): StreamEvent[] {
  const record = parseObject(line);
  if (record === null) return [{ type: 'unknown', text: line }];
  switch (field(record, 'type')) {
    case 'session':
      return sessionEvents(field(record, 'id'));
    case 'message_update':
      return delta(field(record, 'assistantMessageEvent'));
    case 'message_end':
      return endedMessage(field(record, 'message'));
    case 'tool_execution_start':
      return [toolCall(record)];
    case 'tool_execution_end':
      return [toolResult(record)];
    case 'auto_retry_start':
      return [{ type: 'retry', text: text(field(record, 'errorMessage')) }];
    case 'auto_retry_end':
      return field(record, 'success') === true ? [] : failure(text(field(record, 'finalError')));
    case 'agent_end':
      return field(record, 'willRetry') === true ? [] : endOf(lastAnswer(field(record, 'messages')));
    default:
      return silent.has(field(record, 'type')) ? [] : [{ type: 'unknown', text: line }];
  }
}

/** Lines that only frame or repeat others. */
const silent = new Set<unknown>([
  'agent_start',
  'agent_settled',
  'turn_start',
  'turn_end',
  'message_start',
  'tool_execution_update',
  'entry_appended',
]);

function delta(event: unknown): StreamEvent[] {
  return field(event, 'type') === 'text_delta' ? [{ type: 'text-delta', text: text(field(event, 'delta')) }] : [];
}

function toolCall(record: JsonObject): StreamEvent {
  return {
    type: 'tool-call',
    id: text(field(record, 'toolCallId')),
    name: text(field(record, 'toolName')),
    input: toolInput(field(record, 'args')),
  };
}

function toolResult(record: JsonObject): StreamEvent {
  return {
    type: 'tool-result',
    id: text(field(record, 'toolCallId')),
    text: blockText(field(record, 'result', 'content')),
    isError: field(record, 'isError') === true,
  };
}

/**
 * A complete message. The last one ends its turn, unless an error is retried: `agent_end` says the same, but repeats
 * the whole turn, and so may be too long to read.
 */
function endedMessage(message: unknown): StreamEvent[] {
  if (field(message, 'role') === 'user') return [{ type: 'echo', text: blockText(field(message, 'content')) }];
  if (field(message, 'role') !== 'assistant') return [];
  const usage = field(message, 'usage');
  const ended = endOf(message);
  return [
    ...list(field(message, 'content')).flatMap(said),
    usageEvent('call', {
      inputTokens: count(field(usage, 'input')) + count(field(usage, 'cacheWrite')),
      outputTokens: count(field(usage, 'output')),
      cachedTokens: count(field(usage, 'cacheRead')),
      costUsd: amount(field(usage, 'cost', 'total')),
      // A failed call is not a turn.
      turns: field(message, 'stopReason') === 'error' ? 0 : 1,
    }),
    ...(ended.some(isRetried) ? [] : ended),
  ];
}

function said(block: unknown): StreamEvent[] {
  switch (field(block, 'type')) {
    case 'text':
      return [{ type: 'text', text: text(field(block, 'text')) }];
    case 'thinking':
      return [{ type: 'thinking', text: text(field(block, 'thinking')) }];
    default:
      return [];
  }
}

/** Pi itself retries transient errors. */
function isRetried(event: StreamEvent): boolean {
  return event.type === 'result' && !event.ok && event.fault !== 'auth' && event.fault !== 'other';
}

function lastAnswer(messages: unknown): unknown {
  return list(messages).findLast((message) => field(message, 'role') === 'assistant');
}

function endOf(message: unknown): StreamEvent[] {
  switch (field(message, 'stopReason')) {
    case 'stop':
      return [{ type: 'result', ok: true, text: lastText(message), fault: null }];
    case 'error':
      return failure(text(field(message, 'errorMessage')));
    case 'aborted':
      return [{ type: 'result', ok: false, text: 'aborted', fault: null }];
    case 'length':
      return [{ type: 'result', ok: false, text: 'length', fault: 'other' }];
    default:
      return [];
  }
}

function lastText(message: unknown): string {
  return text(
    field(
      list(field(message, 'content')).findLast((block) => field(block, 'type') === 'text'),
      'text',
    ),
  );
}

function failure(message: string): StreamEvent[] {
  const fault = faultOf(null, message, 'limit');
  return [
    ...(fault === 'limit' ? [{ type: 'limit', until: null } as const] : []),
    { type: 'result', ok: false, text: message, fault },
  ];
}
