import type { Json, Parsed } from './client.ts';
import { eventsOf } from './client.ts';

/** Reads answers and streams as the vendors' own clients do: strictly, so that a wrong shape fails. */

type Reader = { whole(body: Json): Parsed; stream(text: string): Parsed };
type Block = { type: string; text: string; thinking: string; name: string; json: string; input: Json };
type AnthropicEvent = {
  type: string;
  index: number;
  content_block: Block;
  delta?: { type: string; text: string; partial_json: string; thinking: string };
  usage: Json;
};

const anthropic: Reader = {
  whole: (body) => anthropicParsed(body['content'] as Block[], body['usage'] as Json),
  stream(text) {
    const blocks: Block[] = [];
    let usage: Json = {};
    let order = '';
    for (const event of eventsOf(text) as unknown as AnthropicEvent[]) {
      const { index, delta } = event;
      order += `${event.type} `;
      if (event.type === 'content_block_start') {
        if (index !== blocks.length) throw new Error('A block is out of order.');
        blocks.push({ ...event.content_block, json: '' });
      } else if (event.type === 'content_block_delta') {
        const block = blocks[index];
        if (block === undefined || delta === undefined) throw new Error('A delta belongs to no block.');
        if (delta.type === 'text_delta') block.text += delta.text;
        else if (delta.type === 'input_json_delta') block.json += delta.partial_json;
        else if (delta.type === 'thinking_delta') block.thinking += delta.thinking;
      } else if (event.type === 'message_delta') usage = event.usage;
    }
    if (!/^message_start ping (content_block_\w+ )+message_delta message_stop $/.test(order)) throw new Error(order);
    for (const block of blocks) if (block.type === 'tool_use') block.input = JSON.parse(block.json) as Json;
    return anthropicParsed(blocks, usage);
  },
};

function anthropicParsed(blocks: Block[], usage: Json): Parsed {
  return {
    text: blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n'),
    calls: blocks.flatMap((block) => (block.type === 'tool_use' ? [{ name: block.name, input: block.input }] : [])),
    usage,
  };
}

type ResponsesEvent = {
  type: string;
  sequence_number: number;
  item: Item;
  delta: string;
  response: { usage: Json };
};
type Item = { type: string; name: string; arguments: string; content: { text: string }[] };

const responses: Reader = {
  whole: (body) => responsesParsed(body['output'] as Item[], body['usage'] as Json),
  stream(text) {
    const events = eventsOf(text) as unknown as ResponsesEvent[];
    events.forEach((event, index) => {
      if (event.sequence_number !== index) throw new Error('The sequence has a gap.');
    });
    const last = events.at(-1);
    if (last?.type !== 'response.completed') throw new Error('The response is not completed.');
    const items = events.filter((event) => event.type === 'response.output_item.done').map((event) => event.item);
    const parsed = responsesParsed(items, last.response.usage);
    const deltas = (type: string) => events.filter((each) => each.type === type).map((each) => each.delta);
    if (deltas('response.output_text.delta').join('') !== parsed.text) throw new Error('The deltas are another text.');
    const json = deltas('response.function_call_arguments.delta').join('');
    if (json !== parsed.calls.map(({ input }) => JSON.stringify(input)).join('')) throw new Error(json);
    return parsed;
  },
};

function responsesParsed(items: Item[], usage: Json): Parsed {
  return {
    text: items.flatMap((item) => (item.type === 'message' ? item.content.map(({ text }) => text) : [])).join('\n'),
    calls: items.flatMap((item) =>
      item.type === 'function_call' ? [{ name: item.name, input: JSON.parse(item.arguments) as Json }] : [],
    ),
    usage,
  };
}

type Call = { index: number; function: { name: string; arguments: string } };
type Message = { content: string | null; tool_calls?: Call[] };

const chat: Reader = {
  whole(body) {
    const [choice] = body['choices'] as { message: Message }[];
    return chatParsed(choice?.message ?? { content: '' }, body['usage'] as Json);
  },
  stream(text) {
    const events = eventsOf(text);
    if (events.pop() !== '[DONE]') throw new Error('The stream does not end with [DONE].');
    const message = { content: '', tool_calls: [] as Call[] };
    let usage: Json = {};
    for (const event of events as { choices: { delta: Message }[]; usage?: Json }[]) {
      usage = event.usage ?? usage;
      const delta = event.choices[0]?.delta;
      message.content += delta?.content ?? '';
      for (const call of delta?.tool_calls ?? []) {
        const known = message.tool_calls[call.index];
        if (known === undefined) message.tool_calls[call.index] = call;
        else known.function.arguments += call.function.arguments;
      }
    }
    return chatParsed(message, usage);
  },
};

function chatParsed({ content, tool_calls = [] }: Message, usage: Json): Parsed {
  const calls = tool_calls.map((call) => ({
    name: call.function.name,
    input: JSON.parse(call.function.arguments) as Json,
  }));
  return { text: content ?? '', calls, usage };
}

type Part = { text?: string; thought?: boolean; functionCall?: { name: string; args: Json } };
type Chunk = { candidates: [{ content: { parts: Part[] }; finishReason?: string }]; usageMetadata: Json };

const gemini: Reader = {
  whole: (body) => geminiParsed([body as unknown as Chunk]),
  stream: (text) => geminiParsed(eventsOf(text) as unknown as Chunk[]),
};

/** What the chunks of a Gemini answer say together. */
export function geminiParsed(chunks: Chunk[]): Parsed {
  const last = chunks.at(-1);
  if (last?.candidates[0].finishReason !== 'STOP') throw new Error('The last chunk does not say that it is the last.');
  const parts = chunks.flatMap(({ candidates: [candidate] }) => candidate.content.parts);
  return {
    text: parts.map((part) => (part.thought === true ? '' : (part.text ?? ''))).join(''),
    calls: parts.flatMap(({ functionCall: call }) =>
      call === undefined ? [] : [{ name: call.name, input: call.args }],
    ),
    usage: last.usageMetadata,
  };
}

export const readers: Record<string, Reader> = { anthropic, responses, chat, gemini };
