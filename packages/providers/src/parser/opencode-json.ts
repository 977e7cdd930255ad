import type { OutputParser } from '@pawl/core/port/provider';
import type { Fault, StreamEvent } from '@pawl/schema/stream-event';
import { faultOf } from '../fault.ts';
import { amount, count, field, parseObject, sessionEvents, text, toolInput, usageEvent } from '@pawl/wire/json-line';

/** The output of `opencode run --format json`: the parts of its messages, each with the session's id. */
export const opencodeJson: OutputParser = {
  parse: parseOpencodeLine,
  telling: ['"step_finish"', '"error"'],
  conversation: ['"text"', '"reasoning"', '"tool_use"'],
};

/** Parses one line of OpenCode's stream. */
function parseOpencodeLine(line: string): StreamEvent[] {
  const record = parseObject(line);
  if (record === null) return [{ type: 'unknown', text: line }];
  const part = field(record, 'part');
  return [...sessionEvents(field(record, 'sessionID')), ...parsePart(field(record, 'type'), part, record, line)];
}

function parsePart(type: unknown, part: unknown, record: unknown, line: string): StreamEvent[] {
  switch (type) {
    case 'step_start':
      return [];
    case 'text':
      return [{ type: 'text', text: text(field(part, 'text')) }];
    case 'reasoning':
      return [{ type: 'thinking', text: text(field(part, 'text')) }];
    case 'tool_use':
      return finishedTool(part);
    case 'step_finish':
      return finishedStep(part);
    case 'error':
      return failure(field(record, 'error'));
    default:
      return [{ type: 'unknown', text: line }];
  }
}

/** A tool is reported when done: call and result in one line. */
function finishedTool(part: unknown): StreamEvent[] {
  const id = text(field(part, 'callID'));
  const state = field(part, 'state');
  const failed = field(state, 'status') === 'error';
  const exit = field(state, 'metadata', 'exit');
  return [
    { type: 'tool-call', id, name: text(field(part, 'tool')), input: toolInput(field(state, 'input')) },
    {
      type: 'tool-result',
      id,
      text: text(field(state, failed ? 'error' : 'output')),
      isError: failed || (typeof exit === 'number' && exit !== 0),
    },
  ];
}

/** A step is one model call. It is the turn's last unless it called tools. */
function finishedStep(part: unknown): StreamEvent[] {
  const tokens = field(part, 'tokens');
  const usage = usageEvent('call', {
    inputTokens: count(field(tokens, 'input')) + count(field(tokens, 'cache', 'write')),
    outputTokens: count(field(tokens, 'output')) + count(field(tokens, 'reasoning')),
    cachedTokens: count(field(tokens, 'cache', 'read')),
    costUsd: amount(field(part, 'cost')),
    turns: 1,
  });
  switch (field(part, 'reason')) {
    case 'stop':
      return [usage, { type: 'result', ok: true, text: '', fault: null }];
    case 'length':
    case 'content-filter':
    case 'error':
      return [usage, { type: 'result', ok: false, text: text(field(part, 'reason')), fault: 'other' }];
    default:
      return [usage];
  }
}

function failure(error: unknown): StreamEvent[] {
  const said = text(field(error, 'data', 'message')) || text(field(error, 'message')) || text(field(error, 'name'));
  const fault = faultOfError(error, said);
  // The server's retry time is in a header that the message does not repeat.
  const after = text(field(error, 'data', 'responseHeaders', 'retry-after'));
  return [
    ...(fault === 'limit' ? [{ type: 'limit', until: null } as const] : []),
    { type: 'result', ok: false, text: after === '' ? said : `${said} (retry-after: ${after})`, fault },
  ];
}

function faultOfError(error: unknown, said: string): Fault | null {
  if (field(error, 'name') === 'ProviderAuthError') return 'auth';
  if (field(error, 'name') === 'ContextOverflowError') return 'other';
  const status = field(error, 'data', 'statusCode');
  const fault = faultOf(typeof status === 'number' ? status : null, said, 'limit');
  return fault ?? (field(error, 'data', 'isRetryable') === true ? 'transient' : null);
}
