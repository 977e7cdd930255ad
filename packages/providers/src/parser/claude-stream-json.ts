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
 * Claude Code's `--output-format stream-json`, which qwen and the scripted agent speak too. Key order is not stable and
 * new kinds of lines appear with every release, so a line is parsed as a whole and what is not known is kept as such.
 */
export const claudeStreamJson: OutputParser = {
  parse: parseClaudeLine,
  // Usage comes with the beginning and end of a streamed message, and with what tools gave; qwen tells it per message.
  telling: [
    '"result"',
    // What was said to it and taken in.
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

/** Turns one line of Claude's stream into events. */
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
      // How far a line of ours has come; the echo tells when it is in the conversation.
      return [];
    case 'bridge':
      // What another protocol said beside; it is kept, and tells a person nothing.
      return [];
    default:
      return [{ type: 'unknown', text: line }];
  }
}

function contentBlocks(record: JsonObject): unknown[] {
  const content = field(record, 'message', 'content');
  return typeof content === 'string' ? [{ type: 'text', text: content }] : list(content);
}

/** Tool results come as a user's words; its other words are what we told it. Each line of results leads to one more model call. */
function parseUser(record: JsonObject): StreamEvent[] {
  const events = contentBlocks(record).flatMap(parseBlock);
  const uuid = text(field(record, 'uuid'));
  const named = uuid === '' ? {} : { uuid };
  // What a helper of the agent was told is not the agent's own turn.
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
 * Claude repeats a call's usage on every block of its answer, with a guess at the output, so those numbers are left alone;
 * the events of the stream tell each once. They are there only when partial messages are asked for.
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

/** Qwen, which alone gives a total, counts what was cached as input too. */
function qwenTokens(usage: unknown): Tokens {
  const cachedTokens = count(field(usage, 'cache_read_input_tokens'));
  return {
    inputTokens: Math.max(0, count(field(usage, 'input_tokens')) - cachedTokens),
    outputTokens: count(field(usage, 'output_tokens')),
    cachedTokens,
  };
}

/** Qwen tells a call's usage once, on the last block of its answer. */
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
 * What a result says was used. Claude's `usage` and `num_turns` are those of one turn of a process that may have several,
 * but its `modelUsage` and `total_cost_usd` are sums over the conversation, helpers included. Qwen's `usage` is such a sum
 * too. Where neither is there, the numbers are the process's own. A report of nothing at all is none: that is how a turn
 * ends which failed before its first answer.
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
