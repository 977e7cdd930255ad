import type { OutputParser } from '@pawl/core/port/provider';
import type { StreamEvent } from '@pawl/schema/stream-event';
import { faultOf } from '../fault.ts';
import type { JsonObject } from '@pawl/wire/json-line';
import {
  count,
  field,
  list,
  parseObject,
  sessionEvents,
  shortJson,
  text,
  toolInput,
  usageEvent,
} from '@pawl/wire/json-line';

/** The output of `codex exec --json`: a thread, its turn, and items that start and complete. */
export const codexExec: OutputParser = {
  parse: parseCodexLine,
  telling: ['"thread.started"', '"turn.completed"', '"turn.failed"', '"item.completed"'],
  conversation: ['"item.started"', '"item.completed"'],
};

/** Parses one line of Codex's stream. */
function parseCodexLine(line: string): StreamEvent[] {
  const record = parseObject(line);
  if (record === null) return [{ type: 'unknown', text: line }];
  switch (field(record, 'type')) {
    case 'thread.started':
      return sessionEvents(field(record, 'thread_id'));
    case 'turn.started':
      return [];
    case 'item.started':
      return toolCall(field(record, 'item'));
    case 'item.updated':
      return [];
    case 'item.completed':
      return completedItem(field(record, 'item'), line);
    case 'turn.completed':
      return completedTurn(record);
    case 'turn.failed':
      return failedTurn(text(field(record, 'error', 'message')));
    case 'error':
      return remark(text(field(record, 'message')));
    default:
      return [{ type: 'unknown', text: line }];
  }
}

/** A failed turn has a line of its own; an `error` may be one of several attempts. */
function remark(message: string): StreamEvent[] {
  return [{ type: message.startsWith('Reconnecting') ? 'retry' : 'unknown', text: message }];
}

function toolCall(item: unknown): StreamEvent[] {
  const call = (name: string, input: string): StreamEvent[] => [
    { type: 'tool-call', id: text(field(item, 'id')), name, input },
  ];
  switch (field(item, 'type')) {
    case 'command_execution':
      return call('shell', text(field(item, 'command')));
    case 'file_change':
      return call('edit', changedPaths(item));
    case 'mcp_tool_call':
      return call(`${text(field(item, 'server'))}.${text(field(item, 'tool'))}`, toolInput(field(item, 'arguments')));
    case 'web_search':
      return call('web_search', text(field(item, 'query')));
    default:
      return [];
  }
}

function changedPaths(item: unknown): string {
  return list(field(item, 'changes'))
    .map((change) => text(field(change, 'path')))
    .join(', ');
}

/** A completed item. One of type `error` is a remark, not the end. */
function completedItem(item: unknown, line: string): StreamEvent[] {
  switch (field(item, 'type')) {
    case 'agent_message':
      return [{ type: 'text', text: text(field(item, 'text')) }];
    case 'reasoning':
      return [{ type: 'thinking', text: text(field(item, 'text')) }];
    case 'command_execution':
      return toolResult(item, text(field(item, 'aggregated_output')));
    case 'file_change':
      return toolResult(item, changedPaths(item));
    case 'mcp_tool_call':
      return toolResult(item, text(field(item, 'error', 'message')) || mcpText(field(item, 'result')));
    case 'web_search':
      return toolResult(item, '');
    case 'error':
      return [{ type: 'unknown', text: text(field(item, 'message')) }];
    default:
      return [{ type: 'unknown', text: line }];
  }
}

function toolResult(item: unknown, said: string): StreamEvent[] {
  const isError = field(item, 'status') === 'failed' || field(item, 'status') === 'declined';
  return [
    { type: 'tool-result', id: text(field(item, 'id')), text: said, isError },
    // Another model call follows; Codex itself does not count them.
    usageEvent('call', { turns: 1 }),
  ];
}

/** How much of an MCP result without text is shown. */
const resultCharacters = 2_000;

function mcpText(result: unknown): string {
  const parts = list(field(result, 'content')).map((part) => text(field(part, 'text')));
  return parts.filter((part) => part !== '').join('\n') || shortJson(result ?? undefined, resultCharacters);
}

/** Totals for the whole thread; input includes cached tokens. */
function completedTurn(record: JsonObject): StreamEvent[] {
  const usage = field(record, 'usage');
  const cachedTokens = count(field(usage, 'cached_input_tokens'));
  return [
    usageEvent('conversation', {
      inputTokens: Math.max(0, count(field(usage, 'input_tokens')) - cachedTokens),
      outputTokens: count(field(usage, 'output_tokens')),
      cachedTokens,
    }),
    usageEvent('call', { turns: 1 }),
    { type: 'result', ok: true, text: '', fault: null },
  ];
}

function failedTurn(message: string): StreamEvent[] {
  const fault = faultOf(null, message, 'transient');
  return [
    ...(fault === 'limit' ? [{ type: 'limit', until: null } as const] : []),
    { type: 'result', ok: false, text: message, fault },
  ];
}
