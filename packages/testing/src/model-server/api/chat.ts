import type { Conversation, Entry } from '../conversation.ts';
import { addToAnswer, addUserText, directoryIn } from '../conversation.ts';
import type { Json } from '../json.ts';
import { contentText, listOf, objectOf, parseObject, textOf } from '../json.ts';
import { piecesOf } from '../pieces.ts';
import type { Answer, Frame, Part, Usage, Writing } from '../reply.ts';
import type { Api } from './api.ts';
import { openaiFault } from './openai-fault.ts';

/** OpenAI's Chat Completions API, which most other vendors use, too. */
export const chat: Api = { name: 'chat', read, answer, stream, fault: (fault) => openaiFault(fault, 'messages') };

function read(body: Json): Conversation {
  const entries: Entry[] = [];
  const messages = listOf(body['messages']).map(objectOf);
  for (const message of messages) readMessage(entries, message);
  const format = objectOf(objectOf(body['response_format'])['json_schema']);
  return {
    model: textOf(body['model']),
    stream: body['stream'] === true,
    entries,
    tools: listOf(body['tools'])
      .map((tool) => objectOf(objectOf(tool)['function']))
      .filter((tool) => textOf(tool['name']) !== '')
      .map((tool) => ({ name: textOf(tool['name']), schema: objectOf(tool['parameters']) })),
    answerSchema: 'schema' in format ? objectOf(format['schema']) : null,
    thinking: true,
    directory: directoryIn(...messages.slice(0, 4).map((message) => contentText(message['content']))),
  };
}

function readMessage(entries: Entry[], message: Json): void {
  const text = contentText(message['content']);
  if (message['role'] === 'user') addUserText(entries, text);
  else if (message['role'] === 'tool') entries.push({ role: 'tool', text });
  else if (message['role'] === 'assistant') {
    const calls = listOf(message['tool_calls'])
      .map((call) => objectOf(objectOf(call)['function']))
      .map((call) => ({ name: textOf(call['name']), input: parseObject(call['arguments']) }));
    addToAnswer(entries, text, calls);
  }
}

function usageOf({ input, output, cached }: Usage): Json {
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached },
  };
}

function textIn(parts: Part[], kind: 'text' | 'thinking'): string {
  return parts.flatMap((part) => (part.kind === kind ? [part.text] : [])).join('\n\n');
}

function callsIn(parts: Part[]): Json[] {
  return parts.flatMap((part) =>
    part.kind === 'call'
      ? [{ id: part.id, type: 'function', function: { name: part.name, arguments: JSON.stringify(part.input) } }]
      : [],
  );
}

function finishReason(parts: Part[]): string {
  return parts.some((part) => part.kind === 'call') ? 'tool_calls' : 'stop';
}

function answer({ parts, usage }: Answer, { id, model, created }: Writing): Json {
  const calls = callsIn(parts);
  const thinking = textIn(parts, 'thinking');
  const message = {
    role: 'assistant',
    content: textIn(parts, 'text') || (calls.length > 0 ? null : ''),
    ...(thinking === '' ? {} : { reasoning_content: thinking }),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
  return {
    id: `chatcmpl-${id}`,
    object: 'chat.completion',
    created,
    model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReason(parts) }],
    usage: usageOf(usage),
  };
}

function stream({ parts, usage }: Answer, { id, model, created }: Writing): Frame[] {
  const common = { id: `chatcmpl-${id}`, object: 'chat.completion.chunk', created, model };
  const chunk = (delta: Json, finish_reason: string | null = null): Frame => ({
    data: { ...common, choices: [{ index: 0, delta, logprobs: null, finish_reason }] },
  });
  return [
    chunk({ role: 'assistant', content: '' }),
    ...piecesOf(textIn(parts, 'thinking')).map((reasoning_content) => chunk({ reasoning_content })),
    ...piecesOf(textIn(parts, 'text')).map((content) => chunk({ content })),
    ...callsIn(parts)
      .flatMap(callDeltas)
      .map((call) => chunk({ tool_calls: [call] })),
    chunk({}, finishReason(parts)),
    { data: { ...common, choices: [], usage: usageOf(usage) } },
    { data: '[DONE]' },
  ];
}

/** A streamed call: its name first, then its arguments in pieces. */
function callDeltas(call: Json, index: number): Json[] {
  const named = objectOf(call['function']);
  const pieces = piecesOf(textOf(named['arguments']));
  return [
    { index, ...call, function: { name: named['name'], arguments: '' } },
    ...pieces.map((piece) => ({ index, function: { arguments: piece } })),
  ];
}
