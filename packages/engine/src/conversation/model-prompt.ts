import { createHash } from 'node:crypto';
import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider';
import type {
  AssistantMessage,
  AssistantPart,
  ImagePart,
  Message,
  TextPart,
  ToolResult,
  VendorFacts,
} from './message.ts';
import { openCalls } from './open-calls.ts';

export type PromptTarget = {
  /** The vendor and model that will read the prompt. */
  author: string;
  takesImages: boolean;
};

/**
 * Translates a conversation for a model. Starts at the last summary; drops reasoning and vendor facts that another
 * author wrote; gives each call without a result one, because vendors refuse a conversation with an open call.
 */
export function modelPrompt(system: string, messages: readonly Message[], target: PromptTarget): LanguageModelV4Prompt {
  const start = Math.max(
    0,
    messages.findLastIndex(({ role }) => role === 'summary'),
  );
  const recent = messages.slice(start);
  const open = new Set(openCalls(recent).map(({ id }) => id));
  const known = new Set<string>();
  const prompt: LanguageModelV4Message[] = system === '' ? [] : [{ role: 'system', content: system }];
  for (const message of recent) {
    if (message.role === 'user') add(prompt, { role: 'user', content: message.parts.flatMap(userPart(target)) });
    else if (message.role === 'summary') prompt.push(summaryMessage(message.text));
    else if (message.role === 'assistant') {
      add(prompt, assistantMessage(message, target.author));
      for (const part of message.parts) {
        if (part.type !== 'tool-call') continue;
        known.add(part.id);
        if (open.has(part.id)) addResult(prompt, missingResult(part.id, part.name), target);
      }
    } else if (known.has(message.callId)) addResult(prompt, message, target);
  }
  return prompt;
}

function add(prompt: LanguageModelV4Message[], message: LanguageModelV4Message): void {
  if (message.content.length > 0) prompt.push(message);
}

function summaryMessage(text: string): LanguageModelV4Message {
  return { role: 'user', content: [{ type: 'text', text: `Summary of the conversation so far:\n\n${text}` }] };
}

function userPart(target: PromptTarget) {
  return (part: TextPart | ImagePart) => {
    if (part.type === 'text') return part.text === '' ? [] : [{ type: 'text' as const, text: part.text }];
    return [imagePart(part, target)];
  };
}

function imagePart(image: ImagePart, { takesImages }: PromptTarget) {
  if (!takesImages)
    return { type: 'text' as const, text: `[An image (${image.mediaType}) that this model cannot see.]` };
  const data = { type: 'data' as const, data: image.base64 };
  return { type: 'file' as const, mediaType: image.mediaType, data };
}

type AssistantContent = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'];

function assistantMessage({ parts, author }: AssistantMessage, reader: string): LanguageModelV4Message {
  return { role: 'assistant', content: parts.flatMap((part) => assistantPart(part, author === reader)) };
}

function assistantPart(part: AssistantPart, own: boolean): AssistantContent {
  if (part.type === 'text') return part.text === '' ? [] : [{ type: 'text', text: part.text }];
  const facts = own ? optionsOf(part.vendorFacts) : {};
  // A vendor accepts only reasoning that it signed itself.
  if (part.type === 'reasoning') return own ? [{ type: 'reasoning', text: part.text, ...facts }] : [];
  const input = isObject(part.input) ? part.input : { malformed: part.input };
  return [{ type: 'tool-call', toolCallId: plainId(part.id), toolName: part.name, input, ...facts }];
}

function optionsOf(facts: VendorFacts | undefined) {
  return facts === undefined ? {} : { providerOptions: facts };
}

function missingResult(callId: string, name: string): ToolResult {
  return { role: 'tool-result', callId, name, text: 'No result.', images: [], isError: true };
}

/** Adds a result to the results of the same answer: vendors want all of them in one message. */
function addResult(prompt: LanguageModelV4Message[], result: ToolResult, target: PromptTarget): void {
  const { text, isError, images } = result;
  const plain = { type: isError ? ('error-text' as const) : ('text' as const), value: text };
  const withImages = () => ({
    type: 'content' as const,
    value: [{ type: 'text' as const, text }, ...images.map((image) => imagePart(image, target))],
  });
  const content = {
    type: 'tool-result' as const,
    toolCallId: plainId(result.callId),
    toolName: result.name,
    output: images.length === 0 ? plain : withImages(),
  };
  const last = prompt.at(-1);
  if (last?.role === 'tool') last.content.push(content);
  else prompt.push({ role: 'tool', content: [content] });
}

/** An id that every vendor accepts: the same one, or a hash of it. */
function plainId(id: string): string {
  if (/^[A-Za-z0-9_-]{1,64}$/.test(id)) return id;
  return `call_${createHash('sha256').update(id).digest('hex').slice(0, 24)}`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
