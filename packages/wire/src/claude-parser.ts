import type { Fault, StreamEvent } from '@pawl/schema/stream-event';
import { parseApprovalCancel, parseApprovalRequest } from './approval-line.ts';
import type { Outcome } from '@pawl/schema/runtime/outcome';
import { contextUsageSchema } from '@pawl/schema/runtime/context-usage';
import { outcomeSchema } from '@pawl/schema/runtime/outcome';
import { callTokens, qwenCallUsage, resultUsage } from './claude-usage.ts';
import type { JsonObject } from './json-line.ts';
import {
  asObject,
  blockText,
  count,
  field,
  list,
  parseObject,
  sessionEvents,
  shortJson,
  text,
  toolInput,
  usageEvent,
} from './json-line.ts';

/** Decides what kind of error a result is, from the HTTP status of the model's service and the text. */
export type ClassifyFault = (status: number | null, text: string) => Fault | null;

/** Texts in lines with a fact to tell. Usage comes with the start and end of a streamed message, and with tool results. */
export const tellingTexts = [
  '"result"',
  // Echoed input.
  '"isReplay"',
  '"rate_limit_event"',
  '"message_start"',
  '"message_delta"',
  '"tool_result"',
  // Qwen reports usage per message.
  '"total_tokens"',
  '"retry"',
  '"control_request"',
  '"control_cancel_request"',
];

/** Texts in lines of the conversation. */
export const conversationTexts = ['"assistant"', '"user"', '"stream_event"', '"summary"', '"context_usage"'];

/**
 * Parses one line of Claude Code's `--output-format stream-json`, also used by qwen, the bridge and the scripted agent.
 * Key order is not stable and every release adds new lines, so lines are parsed as a whole and unknown ones are kept.
 */
export function parseLine(line: string, classify: ClassifyFault): StreamEvent[] {
  const record = parseObject(line);
  if (record === null) return [{ type: 'unknown', text: line }];
  return [...sessionEvents(field(record, 'session_id')), ...parseBody(record, line, classify)];
}

function parseBody(record: JsonObject, line: string, classify: ClassifyFault): StreamEvent[] {
  switch (field(record, 'type')) {
    case 'assistant':
      return [...parseAnswer(record), ...qwenCallUsage(field(record, 'message', 'usage'))];
    case 'user':
      return parseUser(record);
    case 'result':
      return parseResult(record, classify);
    case 'rate_limit_event':
      return parseRateLimit(record);
    case 'system':
      return parseSystem(record);
    case 'stream_event':
      return parseStreamEvent(field(record, 'event'));
    case 'control_request':
      return parseApprovalRequest(record, line);
    case 'control_cancel_request':
      return parseApprovalCancel(record, line);
    case 'control_response':
      // Claude repeats our own answers.
      return [];
    case 'command_lifecycle':
      // The progress of our own input; the echo confirms it.
      return [];
    case 'bridge':
      // Extra output of another protocol; kept, but without meaning for a person.
      return [];
    default:
      return [{ type: 'unknown', text: line }];
  }
}

function contentBlocks(record: JsonObject): unknown[] {
  const content = field(record, 'message', 'content');
  return typeof content === 'string' ? [{ type: 'text', text: content }] : list(content);
}

/** The parts of an answer. A line of the engine may have the whole answer as the body of its last part. */
function parseAnswer(record: JsonObject): StreamEvent[] {
  const events = contentBlocks(record).flatMap(parseBlock);
  const answer = text(field(record, 'pawl', 'answer'));
  const body = bodyOf(record);
  if (answer === '') return events;
  return events.map((event, index) => {
    if (event.type !== 'text' && event.type !== 'tool-call') return event;
    return { ...event, answer, body: undefined, ...(index === events.length - 1 ? body : {}) };
  });
}

/** The whole message of a line, which only the engine writes. */
function bodyOf(record: JsonObject): { body?: string } {
  const message = asObject(field(record, 'pawl', 'message'));
  return message === null ? {} : bodyFrom(message);
}

function bodyFrom(message: object): { body?: string } {
  const body = shortJson(message, Number.POSITIVE_INFINITY);
  return body === '' ? {} : { body };
}

/**
 * Tool results come as user messages; other user messages are our own input. Each line of results leads to another
 * model call.
 */
function parseUser(record: JsonObject): StreamEvent[] {
  const events = contentBlocks(record).flatMap(parseBlock);
  const uuid = text(field(record, 'uuid'));
  const named = uuid === '' ? {} : { uuid };
  // Input to a subagent of the CLI is not the agent's own turn.
  const own = typeof field(record, 'parent_tool_use_id') !== 'string';
  const answered = own && events.some(({ type }) => type === 'tool-result');
  return [
    ...events.map((event): StreamEvent =>
      event.type === 'text'
        ? { type: 'echo', text: event.text, ...named }
        : event.type === 'tool-result'
          ? { ...event, ...bodyOf(record) }
          : event,
    ),
    ...(answered ? [usageEvent('call', { turns: 1 })] : []),
  ];
}

function parseBlock(block: unknown): StreamEvent[] {
  switch (field(block, 'type')) {
    case 'text':
      return [{ type: 'text', text: text(field(block, 'text')) }];
    case 'thinking':
      return [{ type: 'thinking', text: text(field(block, 'thinking')) }];
    case 'tool_use':
      return [
        {
          type: 'tool-call',
          id: text(field(block, 'id')),
          name: text(field(block, 'name')),
          input: toolInput(field(block, 'input')),
          ...callBody(block),
        },
      ];
    case 'tool_result':
      return [
        {
          type: 'tool-result',
          id: text(field(block, 'tool_use_id')),
          text: blockText(field(block, 'content')),
          isError: field(block, 'is_error') === true,
        },
      ];
    default:
      return [];
  }
}

/** The whole input of a call, of which the event shows only a part. */
function callBody(block: unknown): { body?: string } {
  const input = asObject(field(block, 'input'));
  if (input === null) return {};
  const call = { type: 'tool-call', id: text(field(block, 'id')), name: text(field(block, 'name')), input };
  return bodyFrom({ role: 'assistant', parts: [call], author: '' });
}

/**
 * Claude repeats a call's usage on every block of its answer, with an estimate of the output, so those numbers are
 * ignored; stream events report each once. They exist only with partial messages.
 */
function parseStreamEvent(event: unknown): StreamEvent[] {
  const delta = field(event, 'delta');
  switch (field(event, 'type')) {
    case 'message_start': {
      const usage = asObject(field(event, 'message', 'usage'));
      if (usage === null) return [];
      const { inputTokens, cachedTokens } = callTokens(usage);
      return [usageEvent('call', { inputTokens, cachedTokens })];
    }
    case 'message_delta': {
      const output = field(event, 'usage', 'output_tokens');
      return output === undefined ? [] : [usageEvent('call', { outputTokens: count(output) })];
    }
    default:
      return field(delta, 'type') === 'text_delta' ? [{ type: 'text-delta', text: text(field(delta, 'text')) }] : [];
  }
}

function parseResult(record: JsonObject, classify: ClassifyFault): StreamEvent[] {
  const ok = field(record, 'is_error') !== true && field(record, 'subtype') === 'success';
  const said =
    text(field(record, 'result')) ||
    list(field(record, 'errors')).filter(isText).join('\n') ||
    text(field(record, 'error', 'message')) ||
    text(field(record, 'subtype'));
  const fault = ok ? null : resultFault(record, said, classify);
  return [
    ...resultUsage(record),
    ...(fault === 'limit' ? [{ type: 'limit', until: null } as const] : []),
    { type: 'result', ok, text: said, fault, ...outcomeIn(record) },
  ];
}

/** The outcome with which the engine says that its work has ended. */
function outcomeIn(record: JsonObject): { outcome?: Outcome } {
  const parsed = outcomeSchema.safeParse(field(record, 'outcome'));
  return parsed.success ? { outcome: parsed.data } : {};
}

function resultFault(record: JsonObject, said: string, classify: ClassifyFault): Fault | null {
  if (field(record, 'api_error') === 'usage_limit_reached') return 'limit';
  const status = field(record, 'api_error_status');
  return classify(typeof status === 'number' ? status : null, said);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function parseRateLimit(record: JsonObject): StreamEvent[] {
  const info = field(record, 'rate_limit_info');
  if (field(info, 'status') !== 'rejected') return [];
  const resetsAt = field(info, 'resetsAt');
  const known = typeof resetsAt === 'number' && Number.isFinite(resetsAt) && resetsAt > 0 && resetsAt < 1e11;
  return [{ type: 'limit', until: known ? Math.round(resetsAt * 1000) : null }];
}

/** Qwen waits for minutes when its quota is used up, and only for seconds otherwise. */
const limitDelayMs = 60_000;

function parseSystem(record: JsonObject): StreamEvent[] {
  switch (field(record, 'subtype')) {
    case 'api_retry': {
      const error = text(field(record, 'error')).slice(0, 100);
      return [{ type: 'retry', text: `the provider retries${error === '' ? '' : ` (${error})`}` }];
    }
    case 'retry': {
      const delayMs = field(record, 'data', 'delayMs');
      const waits = typeof delayMs === 'number' && delayMs >= limitDelayMs;
      return waits ? [{ type: 'limit', until: null }] : [{ type: 'retry', text: 'the provider retries' }];
    }
    case 'summary':
      return [{ type: 'summary', text: text(field(record, 'text')) }];
    case 'context_usage': {
      const usage = contextUsageSchema.safeParse(record);
      return usage.success ? [{ type: 'context-usage', usage: usage.data }] : [];
    }
    default:
      return [];
  }
}
