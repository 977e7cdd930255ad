import type { OutputParser } from '@pawl/core/port/provider';
import type { Fault, StreamEvent } from '@pawl/schema/stream-event';
import { faultOf } from '../fault.ts';
import type { JsonObject } from './json-line.ts';
import {
  amount,
  asObject,
  blockText,
  count,
  field,
  list,
  parseObject,
  sessionEvents,
  text,
  toolInput,
  usageEvent,
} from './json-line.ts';

/**
 * Claude Code's `--output-format stream-json`, also used by qwen and the scripted agent. Key order is not stable and
 * every release adds new lines, so lines are parsed as a whole and unknown ones are kept.
 */
export const claudeStreamJson: OutputParser = {
  parse: parseClaudeLine,
  // Usage comes with the start and end of a streamed message, and with tool results; qwen reports it per message.
  telling: [
    '"result"',
    // Echoed input.
    '"isReplay"',
    '"rate_limit_event"',
    '"message_start"',
    '"message_delta"',
    '"tool_result"',
    '"total_tokens"',
    '"retry"',
  ],
  conversation: ['"assistant"', '"user"', '"stream_event"'],
};

/** Parses one line of Claude's stream. */
export function parseClaudeLine(line: string): StreamEvent[] {
  const record = parseObject(line);
  if (record === null) return [{ type: 'unknown', text: line }];
  return [...sessionEvents(field(record, 'session_id')), ...parseBody(record, line)];
}

function parseBody(record: JsonObject, line: string): StreamEvent[] {
  switch (field(record, 'type')) {
    case 'assistant':
      return [...contentBlocks(record).flatMap(parseBlock), ...qwenCallUsage(field(record, 'message', 'usage'))];
    case 'user':
      return parseUser(record);
    case 'result':
      return parseResult(record);
    case 'rate_limit_event':
      return parseRateLimit(record);
    case 'system':
      return parseSystem(record);
    case 'stream_event':
      return parseStreamEvent(field(record, 'event'));
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
      event.type === 'text' ? { type: 'echo', text: event.text, ...named } : event,
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
      const { inputTokens, cachedTokens } = claudeTokens(usage);
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

function claudeTokens(usage: JsonObject): Tokens {
  return {
    inputTokens: Math.round(amount(field(usage, 'input_tokens')) + amount(field(usage, 'cache_creation_input_tokens'))),
    outputTokens: count(field(usage, 'output_tokens')),
    cachedTokens: count(field(usage, 'cache_read_input_tokens')),
  };
}

/** Qwen, the only one with a total, counts cached tokens as input, too. */
function qwenTokens(usage: unknown): Tokens {
  const cachedTokens = count(field(usage, 'cache_read_input_tokens'));
  return {
    inputTokens: Math.max(0, count(field(usage, 'input_tokens')) - cachedTokens),
    outputTokens: count(field(usage, 'output_tokens')),
    cachedTokens,
  };
}

/** Qwen reports a call's usage once, on the last block of its answer. */
function qwenCallUsage(usage: unknown): StreamEvent[] {
  return field(usage, 'total_tokens') === undefined ? [] : [usageEvent('call', qwenTokens(usage))];
}

function parseResult(record: JsonObject): StreamEvent[] {
  const ok = field(record, 'is_error') !== true && field(record, 'subtype') === 'success';
  const said =
    text(field(record, 'result')) ||
    list(field(record, 'errors')).filter(isText).join('\n') ||
    text(field(record, 'error', 'message')) ||
    text(field(record, 'subtype'));
  const fault = ok ? null : resultFault(record, said);
  return [
    ...resultUsage(record),
    ...(fault === 'limit' ? [{ type: 'limit', until: null } as const] : []),
    { type: 'result', ok, text: said, fault },
  ];
}

/**
 * The usage in a result. Claude's `usage` and `num_turns` are for one turn of a process that may have several, but its
 * `modelUsage` and `total_cost_usd` are totals for the conversation, including subagents. Qwen's `usage` is such a
 * total, too. Without either, the numbers are for the process. All zeros means no report: a turn that failed before its
 * first answer.
 */
function resultUsage(record: JsonObject): StreamEvent[] {
  const turns = count(field(record, 'num_turns'));
  const lastTurn = turns === 0 ? [] : [usageEvent('call', { turns: 1 })];
  const cost = field(record, 'total_cost_usd');
  const costUsd = cost === undefined ? null : amount(cost);
  const models = asObject(field(record, 'modelUsage'));
  if (models !== null) {
    const sums = modelSums(models);
    return isNothing(sums) ? lastTurn : [usageEvent('conversation', { ...sums, costUsd }), ...lastTurn];
  }
  const usage = asObject(field(record, 'usage')) ?? {};
  if (field(usage, 'total_tokens') !== undefined) return [usageEvent('conversation', qwenTokens(usage)), ...lastTurn];
  const tokens = claudeTokens(usage);
  return isNothing(tokens) ? lastTurn : [usageEvent('session', { ...tokens, costUsd, turns })];
}

type Tokens = { inputTokens: number; outputTokens: number; cachedTokens: number };

function isNothing({ inputTokens, outputTokens, cachedTokens }: Tokens): boolean {
  return inputTokens + outputTokens + cachedTokens === 0;
}

function modelSums(models: JsonObject): Tokens {
  const sums = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 };
  for (const model of Object.values(models)) {
    sums.inputTokens += count(field(model, 'inputTokens')) + count(field(model, 'cacheCreationInputTokens'));
    sums.outputTokens += count(field(model, 'outputTokens'));
    sums.cachedTokens += count(field(model, 'cacheReadInputTokens'));
  }
  return sums;
}

function resultFault(record: JsonObject, said: string): Fault | null {
  if (field(record, 'api_error') === 'usage_limit_reached') return 'limit';
  const status = field(record, 'api_error_status');
  return faultOf(typeof status === 'number' ? status : null, said, 'limit');
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
    default:
      return [];
  }
}
