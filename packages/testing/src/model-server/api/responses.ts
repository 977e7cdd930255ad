import type { Conversation, Entry, OfferedTool } from '../conversation.ts';
import { addToAnswer, addUserText, directoryIn } from '../conversation.ts';
import type { Json } from '../json.ts';
import { contentText, listOf, objectOf, parseObject, textOf } from '../json.ts';
import { piecesOf } from '../pieces.ts';
import type { Answer, Frame, Part, Usage, Writing } from '../reply.ts';
import type { Api } from './api.ts';
import { openaiFault } from './openai-fault.ts';
import { scriptOf, toolsInScripts } from './responses-script.ts';

/** OpenAI's Responses API. */
export const responses: Api = {
  name: 'responses',
  read,
  answer: (reply, writing) => response(reply, writing, 'completed'),
  stream,
  fault: (fault) => openaiFault(fault, 'input'),
};

function read(body: Json): Conversation {
  const entries: Entry[] = [];
  const input = body['input'];
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : listOf(input).map(objectOf);
  for (const item of items) readItem(entries, item);
  const format = objectOf(objectOf(body['text'])['format']);
  return {
    model: textOf(body['model']),
    stream: body['stream'] === true,
    entries,
    tools: [...listOf(body['tools']), ...items.flatMap((item) => listOf(item['tools']))].flatMap((tool) =>
      readTool(objectOf(tool)),
    ),
    answerSchema: 'schema' in format ? objectOf(format['schema']) : null,
    thinking: Object.keys(objectOf(body['reasoning'])).length > 0,
    directory: directoryIn(
      textOf(body['instructions']),
      ...items.slice(0, 5).map((item) => contentText(item['content'])),
    ),
  };
}

/** A function, the functions of a namespace, or those that a script may call; other tools run at the vendor. */
function readTool(tool: Json, namespace?: string): OfferedTool[] {
  const name = textOf(tool['name']);
  if (tool['type'] === 'namespace') {
    return listOf(tool['tools']).flatMap((each) => readTool(objectOf(each), name));
  }
  if (tool['type'] === 'custom') return toolsInScripts(tool, namespace);
  if (tool['type'] !== 'function' || name === '') return [];
  return [{ name, schema: objectOf(tool['parameters']), ...(namespace === undefined ? {} : { namespace }) }];
}

function readItem(entries: Entry[], item: Json): void {
  const type = textOf(item['type']) || 'message';
  if (type === 'message' && item['role'] === 'user') addUserText(entries, contentText(item['content']));
  else if (type === 'message' && item['role'] === 'assistant') addToAnswer(entries, contentText(item['content']));
  else if (type === 'function_call') {
    addToAnswer(entries, '', [{ name: textOf(item['name']), input: parseObject(item['arguments']) }]);
  } else if (type === 'custom_tool_call') {
    addToAnswer(entries, '', [{ name: textOf(item['name']), input: { script: textOf(item['input']) } }]);
  } else if (type === 'function_call_output' || type === 'custom_tool_call_output') {
    entries.push({ role: 'tool', text: contentText(item['output']) });
  }
}

function response(
  { parts, usage }: Answer,
  { id, model, created }: Writing,
  status: 'completed' | 'in_progress',
): Json {
  const finished = status === 'completed';
  return {
    id: `resp_${id}`,
    object: 'response',
    created_at: created,
    status,
    model,
    error: null,
    incomplete_details: null,
    parallel_tool_calls: true,
    output: finished ? parts.map((part, index) => item(part, `${id}_${index}`)) : [],
    usage: finished ? usageOf(usage) : null,
  };
}

function usageOf({ input, output, cached }: Usage): Json {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + output,
  };
}

function item(part: Part, id: string): Json {
  if (part.kind === 'text') {
    const content = [{ type: 'output_text', text: part.text, annotations: [] }];
    return { type: 'message', id: `msg_${id}`, role: 'assistant', status: 'completed', content };
  }
  if (part.kind === 'thinking') {
    return { type: 'reasoning', id: `rs_${id}`, summary: [{ type: 'summary_text', text: part.text }] };
  }
  if (part.script !== undefined) {
    return { type: 'custom_tool_call', id: `ctc_${id}`, call_id: part.id, ...part.script, input: scriptOf(part) };
  }
  return {
    type: 'function_call',
    id: `fc_${id}`,
    call_id: part.id,
    name: part.name,
    ...(part.namespace === undefined ? {} : { namespace: part.namespace }),
    arguments: JSON.stringify(part.input),
    status: 'completed',
  };
}

function stream(reply: Answer, writing: Writing): Frame[] {
  const begun = response(reply, writing, 'in_progress');
  const frames: Json[] = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
  ];
  for (const [index, part] of reply.parts.entries()) frames.push(...itemFrames(part, index, `${writing.id}_${index}`));
  frames.push({ type: 'response.completed', response: response(reply, writing, 'completed') });
  return frames.map((data, sequence_number) => ({ event: textOf(data['type']), data: { ...data, sequence_number } }));
}

function itemFrames(part: Part, output_index: number, id: string): Json[] {
  const whole = item(part, id);
  const at = { item_id: whole['id'], output_index };
  const done: Json = { type: 'response.output_item.done', output_index, item: whole };
  const added = (empty: Json): Json => ({
    type: 'response.output_item.added',
    output_index,
    item: { ...whole, ...empty },
  });
  if (part.kind === 'text') {
    const place = { ...at, content_index: 0 };
    const content = (text: string) => ({ type: 'output_text', text, annotations: [] });
    return [
      added({ status: 'in_progress', content: [] }),
      { type: 'response.content_part.added', ...place, part: content('') },
      ...piecesOf(part.text).map((delta): Json => ({ type: 'response.output_text.delta', ...place, delta })),
      { type: 'response.output_text.done', ...place, text: part.text },
      { type: 'response.content_part.done', ...place, part: content(part.text) },
      done,
    ];
  }
  if (part.kind === 'thinking') {
    const place = { ...at, summary_index: 0 };
    const summary = (text: string) => ({ type: 'summary_text', text });
    const named = 'response.reasoning_summary';
    return [
      added({ summary: [] }),
      { type: `${named}_part.added`, ...place, part: summary('') },
      ...piecesOf(part.text).map((delta): Json => ({ type: `${named}_text.delta`, ...place, delta })),
      { type: `${named}_text.done`, ...place, text: part.text },
      { type: `${named}_part.done`, ...place, part: summary(part.text) },
      done,
    ];
  }
  const [named, field] =
    part.script === undefined
      ? ['response.function_call_arguments', 'arguments']
      : ['response.custom_tool_call_input', 'input'];
  const text = textOf(whole[field]);
  return [
    added({ status: 'in_progress', [field]: '' }),
    ...piecesOf(text).map((delta): Json => ({ type: `${named}.delta`, ...at, delta })),
    { type: `${named}.done`, ...at, [field]: text },
    done,
  ];
}
