import type { Conversation, Entry } from '../conversation.ts';
import { addInterjections, addToAnswer, addUserText, directoryIn } from '../conversation.ts';
import type { Json } from '../json.ts';
import { contentText, listOf, objectOf, textOf } from '../json.ts';
import { piecesOf } from '../pieces.ts';
import type { Answer, Fault, Frame, Part, Usage, WireFault, Writing } from '../reply.ts';
import type { Api } from './api.ts';

/** Anthropic's Messages API. */
export const anthropic: Api = { name: 'anthropic', read, answer, stream, fault };

function read(body: Json): Conversation {
  const entries: Entry[] = [];
  const messages = listOf(body['messages']).map(objectOf);
  for (const message of messages) readMessage(entries, message);
  const system = contentText(body['system']);
  return {
    model: textOf(body['model']),
    stream: body['stream'] === true,
    entries,
    tools: listOf(body['tools'])
      .map(objectOf)
      .filter((tool) => textOf(tool['name']) !== '' && 'input_schema' in tool)
      .map((tool) => ({ name: textOf(tool['name']), schema: objectOf(tool['input_schema']) })),
    answerSchema: answerSchema(body),
    thinking: ['enabled', 'adaptive'].includes(textOf(objectOf(body['thinking'])['type'])),
    directory: directoryIn(system, ...messages.slice(0, 3).map((message) => contentText(message['content']))),
  };
}

function answerSchema(body: Json): Json | null {
  const format = objectOf(objectOf(body['output_config'])['format'] ?? body['output_format']);
  return 'schema' in format ? objectOf(format['schema']) : null;
}

function readMessage(entries: Entry[], message: Json): void {
  const content = message['content'];
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content).map(objectOf);
  if (message['role'] === 'assistant') {
    const calls = blocks
      .filter((block) => block['type'] === 'tool_use')
      .map((block) => ({ name: textOf(block['name']), input: objectOf(block['input']) }));
    addToAnswer(entries, blocks.map((block) => textOf(block['text'])).join(''), calls);
  } else if (message['role'] === 'user') {
    for (const block of blocks) {
      if (block['type'] === 'tool_result') entries.push({ role: 'tool', text: contentText(block['content']) });
    }
    const texts = blocks.filter((block) => block['type'] === 'text').map((block) => textOf(block['text']));
    for (const text of texts) if (text.startsWith('<system-reminder>')) addInterjections(entries, text);
    addUserText(entries, texts.join('\n'));
  } else if (message['role'] === 'system') addInterjections(entries, contentText(blocks));
}

function block(part: Part): Json {
  if (part.kind === 'text') return { type: 'text', text: part.text };
  if (part.kind === 'thinking') return { type: 'thinking', thinking: part.text, signature: 'c2NyaXB0ZWQ=' };
  return { type: 'tool_use', id: part.id, name: part.name, input: part.input };
}

function usageOf({ input, output, cached }: Usage): Json {
  return {
    input_tokens: Math.max(0, input - cached),
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cached,
    output_tokens: output,
  };
}

function stopReason(parts: Part[]): string {
  return parts.some((part) => part.kind === 'call') ? 'tool_use' : 'end_turn';
}

function answer({ parts, usage }: Answer, { id, model }: Writing): Json {
  return {
    id: `msg_${id}`,
    type: 'message',
    role: 'assistant',
    model,
    content: parts.map(block),
    stop_reason: stopReason(parts),
    stop_sequence: null,
    usage: usageOf(usage),
  };
}

function stream(reply: Answer, writing: Writing): Frame[] {
  const whole = answer(reply, writing);
  const started = { ...whole, content: [], stop_reason: null, usage: { ...usageOf(reply.usage), output_tokens: 1 } };
  const frames: Json[] = [{ type: 'message_start', message: started }, { type: 'ping' }];
  for (const [index, part] of reply.parts.entries()) frames.push(...blockFrames(part, index));
  frames.push({
    type: 'message_delta',
    delta: { stop_reason: stopReason(reply.parts), stop_sequence: null },
    usage: usageOf(reply.usage),
  });
  frames.push({ type: 'message_stop' });
  return frames.map((data) => ({ event: textOf(data['type']), data }));
}

function blockFrames(part: Part, index: number): Json[] {
  const delta = (value: Json): Json => ({ type: 'content_block_delta', index, delta: value });
  const start = (value: Json): Json => ({ type: 'content_block_start', index, content_block: value });
  const stop: Json = { type: 'content_block_stop', index };
  if (part.kind === 'text') {
    const deltas = piecesOf(part.text).map((text) => delta({ type: 'text_delta', text }));
    return [start({ type: 'text', text: '' }), ...deltas, stop];
  }
  if (part.kind === 'thinking') {
    const deltas = piecesOf(part.text).map((thinking) => delta({ type: 'thinking_delta', thinking }));
    const signature = delta({ type: 'signature_delta', signature: 'c2NyaXB0ZWQ=' });
    return [start({ type: 'thinking', thinking: '', signature: '' }), ...deltas, signature, stop];
  }
  const pieces = ['', ...piecesOf(JSON.stringify(part.input))];
  const deltas = pieces.map((piece) => delta({ type: 'input_json_delta', partial_json: piece }));
  return [start({ type: 'tool_use', id: part.id, name: part.name, input: {} }), ...deltas, stop];
}

const faults: Record<Fault['error'], [status: number, type: string, message: string]> = {
  limit: [429, 'rate_limit_error', "This request would exceed your account's rate limit. Please try again later."],
  'limit-reset': [
    429,
    'rate_limit_error',
    "This request would exceed your account's rate limit. Please try again later.",
  ],
  quota: [
    400,
    'invalid_request_error',
    'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.',
  ],
  overload: [529, 'overloaded_error', 'Overloaded'],
  auth: [401, 'authentication_error', 'invalid x-api-key'],
  'bad-request': [400, 'invalid_request_error', 'messages: the request is not valid'],
  context: [400, 'invalid_request_error', 'prompt is too long: 215000 tokens > 200000 maximum'],
  'server-error': [500, 'api_error', 'Internal server error'],
};

function fault(fault: Fault): WireFault {
  const [status, type, message] = faults[fault.error];
  return {
    status,
    headers: { ...limitHeaders(fault), ...(status < 500 ? { 'x-should-retry': 'false' } : {}) },
    body: {
      type: 'error',
      error: { type, message: fault.message ?? message },
      request_id: 'req_scripted',
    },
  };
}

/** The headers that report an exhausted subscription window, and its end. */
function limitHeaders({ error, resetsAt, resetsInSeconds }: Fault): Record<string, string> {
  if (error !== 'limit' && error !== 'limit-reset') return {};
  const rejected = { 'anthropic-ratelimit-unified-status': 'rejected' };
  if (resetsAt === null) return rejected;
  const reset = String(resetsAt);
  return {
    ...rejected,
    'retry-after': String(resetsInSeconds),
    'anthropic-ratelimit-unified-reset': reset,
    'anthropic-ratelimit-unified-representative-claim': 'five_hour',
    'anthropic-ratelimit-unified-5h-status': 'rejected',
    'anthropic-ratelimit-unified-5h-reset': reset,
    'anthropic-ratelimit-unified-5h-utilization': '1.0',
    'anthropic-ratelimit-unified-7d-status': 'allowed',
    'anthropic-ratelimit-unified-7d-reset': String(resetsAt + 6 * 24 * 3_600),
    'anthropic-ratelimit-unified-7d-utilization': '0.4',
    'anthropic-ratelimit-unified-fallback-percentage': '0.5',
    'anthropic-ratelimit-unified-overage-status': 'rejected',
    'anthropic-ratelimit-unified-overage-disabled-reason': 'org_level_disabled',
  };
}
