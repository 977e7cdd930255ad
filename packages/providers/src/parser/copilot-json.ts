import type { OutputParser } from '@pawl/core/port/provider';
import type { Fault, StreamEvent } from '@pawl/schema/stream-event';
import { faultOf } from '../fault.ts';
import { field, parseObject, sessionEvents, text, toolInput, usageEvent } from '@pawl/wire/json-line';

/** Copilot's `--output-format json`. It has its session id only in the last line, and no tokens. */
export const copilotJson: OutputParser = {
  parse: parseCopilotLine,
  telling: ['"assistant.message"', '"session.error"', '"result"'],
  conversation: [
    '"user.message"',
    '"assistant.message"',
    '"assistant.message_delta"',
    '"assistant.reasoning"',
    '"tool.execution_start"',
    '"tool.execution_complete"',
  ],
};

/** Parses one line of Copilot's stream. */
function parseCopilotLine(line: string): StreamEvent[] {
  const record = parseObject(line);
  if (record === null) return [{ type: 'unknown', text: line }];
  const type = text(field(record, 'type'));
  const data = field(record, 'data');
  switch (type) {
    case 'user.message':
      return [{ type: 'echo', text: text(field(data, 'content')) }];
    case 'assistant.message_delta':
      return [{ type: 'text-delta', text: text(field(data, 'deltaContent')) }];
    case 'assistant.message':
      return message(data);
    case 'assistant.reasoning':
      return [{ type: 'thinking', text: text(field(data, 'content')) }];
    case 'tool.execution_start':
      return [
        {
          type: 'tool-call',
          id: text(field(data, 'toolCallId')),
          name: text(field(data, 'toolName')),
          input: toolInput(field(data, 'arguments')),
        },
      ];
    case 'tool.execution_complete':
      return [toolResult(data)];
    case 'model.call_failure':
      return [{ type: 'retry', text: text(field(data, 'errorMessage')) }];
    case 'session.error':
      return failure(data);
    case 'result':
      return end(record);
    default:
      return framing.test(type) ? [] : [{ type: 'unknown', text: line }];
  }
}

/** Lines that only frame or repeat others. */
const framing = /^(?:session|assistant|tool|model|permission|hook|abort)\./;

/** A message answers one model call; its tools are reported again when they start. */
function message(data: unknown): StreamEvent[] {
  const content = text(field(data, 'content'));
  return [...(content === '' ? [] : [{ type: 'text', text: content } as const]), usageEvent('call', { turns: 1 })];
}

function toolResult(data: unknown): StreamEvent {
  const failed = field(data, 'success') === false;
  const exitCode = field(data, 'shellExecution', 'exitCode');
  return {
    type: 'tool-result',
    id: text(field(data, 'toolCallId')),
    text: text(field(data, 'result', 'content')) || text(field(data, 'error', 'message')),
    isError: failed || (typeof exitCode === 'number' && exitCode !== 0),
  };
}

const faultsByType: Record<string, Fault> = {
  rate_limit: 'limit',
  quota: 'limit',
  authentication: 'auth',
  authorization: 'auth',
};

function failure(data: unknown): StreamEvent[] {
  const said = text(field(data, 'message'));
  const type = text(field(data, 'errorType'));
  const status = field(data, 'statusCode');
  const known = Object.hasOwn(faultsByType, type) ? faultsByType[type] : undefined;
  const fault = known ?? faultOf(typeof status === 'number' ? status : null, said, 'limit');
  return [
    ...(fault === 'limit' ? [{ type: 'limit', until: null } as const] : []),
    { type: 'result', ok: false, text: said, fault },
  ];
}

/** The last line. A failure was reported before, with its reason; this line has none. */
function end(record: unknown): StreamEvent[] {
  const ok = field(record, 'exitCode') === 0;
  return [
    ...sessionEvents(field(record, 'sessionId')),
    ...(ok ? [{ type: 'result', ok, text: '', fault: null } as const] : []),
  ];
}
