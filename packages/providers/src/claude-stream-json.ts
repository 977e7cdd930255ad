import type { StreamEvent } from '@pawl/schema/stream-event';
import * as z from 'zod';

/**
 * Claude Code's `--output-format stream-json`, which qwen and the scripted agent speak too. Key order is not stable and
 * new kinds of lines appear with every release, so a line is parsed as a whole and what is not known is kept as such.
 */
export function parseClaudeLine(line: string): StreamEvent[] {
  const record = parseRecord(line);
  if (record === null) return [{ type: 'unknown', text: line }];
  const events: StreamEvent[] = [];
  const id = record['session_id'];
  if (typeof id === 'string' && sessionId.test(id)) events.push({ type: 'session', providerSessionId: id });
  events.push(...parseBody(record, line));
  return events;
}

/** It becomes a word of a command line when the session is resumed, so it must not look like an option. */
const sessionId = /^[A-Za-z0-9][\w.:-]{0,199}$/;

function parseRecord(line: string): Record<string, unknown> | null {
  if (!line.startsWith('{')) return null;
  try {
    const value: unknown = JSON.parse(line);
    return value !== null && typeof value === 'object' ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

function parseBody(record: Record<string, unknown>, line: string): StreamEvent[] {
  switch (record['type']) {
    case 'assistant':
      return contentBlocks(record['message']).flatMap(parseBlock);
    case 'user':
      // Tool results come as a user's words; its other words are what we told it.
      return contentBlocks(record['message'])
        .flatMap(parseBlock)
        .map((event) => (event.type === 'text' ? { type: 'echo', text: event.text } : event));
    case 'result':
      return parseResult(record);
    case 'rate_limit_event':
      return parseRateLimit(record);
    case 'system':
      return record['subtype'] === 'api_retry' ? [{ type: 'retry', text: 'the provider retries' }] : [];
    case 'stream_event':
      return parseDelta(record['event']);
    default:
      return [{ type: 'unknown', text: line }];
  }
}

function contentBlocks(message: unknown): unknown[] {
  const content = field(message, 'content');
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return Array.isArray(content) ? content : [];
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

function parseDelta(event: unknown): StreamEvent[] {
  const delta = field(event, 'delta');
  return field(delta, 'type') === 'text_delta' ? [{ type: 'text-delta', text: text(field(delta, 'text')) }] : [];
}

/** More tokens, turns or dollars than this are no count but a mistake, and sums of them would stop being exact. */
const plausibleCount = 1e12;
const count = z.number().nonnegative().max(plausibleCount).catch(0);

const resultSchema = z.object({
  subtype: z.string().catch(''),
  is_error: z.boolean().catch(false),
  result: z.string().catch(''),
  errors: z.array(z.string()).catch([]),
  num_turns: count,
  total_cost_usd: count,
  api_error_status: z.number().nullable().catch(null),
  usage: z
    .object({
      input_tokens: count,
      output_tokens: count,
      cache_read_input_tokens: count,
      cache_creation_input_tokens: count,
    })
    .catch({ input_tokens: 0, output_tokens: 0, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 }),
});

function parseResult(record: Record<string, unknown>): StreamEvent[] {
  const parsed = resultSchema.safeParse(record);
  if (!parsed.success) return [{ type: 'unknown', text: 'result' }];
  const { usage, ...result } = parsed.data;
  const ok = !result.is_error && result.subtype === 'success';
  const said = result.result || result.errors.join('\n') || result.subtype;
  const limited =
    !ok && (result.api_error_status === 429 || /hit your (?:.{1,40} )?limit|Credit balance is too low/.test(said));
  return [
    {
      type: 'usage',
      inputTokens: Math.round(usage.input_tokens + usage.cache_creation_input_tokens),
      outputTokens: Math.round(usage.output_tokens),
      cachedTokens: Math.round(usage.cache_read_input_tokens),
      costUsd: result.total_cost_usd,
      turns: Math.round(result.num_turns),
    },
    ...(limited ? [{ type: 'limit', until: null } as const] : []),
    { type: 'result', ok, text: said },
  ];
}

function parseRateLimit(record: Record<string, unknown>): StreamEvent[] {
  const info = record['rate_limit_info'];
  if (field(info, 'status') !== 'rejected') return [];
  const resetsAt = field(info, 'resetsAt');
  const known = typeof resetsAt === 'number' && Number.isFinite(resetsAt) && resetsAt > 0 && resetsAt < 1e11;
  return [{ type: 'limit', until: known ? Math.round(resetsAt * 1000) : null }];
}

function field(value: unknown, name: string): unknown {
  return value !== null && typeof value === 'object' && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** How much of a tool's input is shown when it is not simply a command or a path. */
const inputCharacters = 200;

function toolInput(value: unknown): string {
  const command = field(value, 'command') ?? field(value, 'file_path') ?? field(value, 'path');
  if (typeof command === 'string') return command;
  if (value === undefined) return '';
  try {
    return JSON.stringify(value).slice(0, inputCharacters);
  } catch {
    // It is nested deeper than the stack reaches: legal JSON, but nothing that a person could read.
    return '';
  }
}

function blockText(value: unknown): string {
  if (typeof value === 'string') return value;
  return Array.isArray(value) ? value.map((part) => text(field(part, 'text'))).join('\n') : '';
}
