import * as z from 'zod';

/** Facts that only one vendor understands, such as the signature of its reasoning. */
const vendorFacts = z.record(z.string(), z.record(z.string(), z.json()));
export type VendorFacts = z.infer<typeof vendorFacts>;

const text = z.strictObject({ type: z.literal('text'), text: z.string() });
const image = z.strictObject({ type: z.literal('image'), mediaType: z.string(), base64: z.string() });
const reasoning = z.strictObject({
  type: z.literal('reasoning'),
  text: z.string(),
  vendorFacts: vendorFacts.optional(),
});
const toolCall = z.strictObject({
  type: z.literal('tool-call'),
  id: z.string(),
  name: z.string(),
  /** The input as the model wrote it: an object, or the text if it is no JSON object. */
  input: z.unknown(),
  vendorFacts: vendorFacts.optional(),
});

export type TextPart = z.infer<typeof text>;
export type ImagePart = z.infer<typeof image>;
export type ReasoningPart = z.infer<typeof reasoning>;
export type ToolCall = z.infer<typeof toolCall>;
export type AssistantPart = TextPart | ReasoningPart | ToolCall;

const user = z.strictObject({
  role: z.literal('user'),
  parts: z.array(z.union([text, image])),
  /** The sender's id of the message. */
  uuid: z.string().nullable().default(null),
});
const assistant = z.strictObject({
  role: z.literal('assistant'),
  parts: z.array(z.union([text, reasoning, toolCall])),
  /** The vendor and model that wrote it. Only they get its vendor facts back. */
  author: z.string(),
});
const toolResult = z.strictObject({
  role: z.literal('tool-result'),
  callId: z.string(),
  name: z.string(),
  text: z.string(),
  images: z.array(image).default([]),
  isError: z.boolean(),
});
/** Stands for all messages before it when the conversation is sent to a model. They stay in the conversation. */
const summary = z.strictObject({ role: z.literal('summary'), text: z.string() });

/** A message of a conversation, independent of any vendor. */
export const messageSchema = z.discriminatedUnion('role', [user, assistant, toolResult, summary]);
export type Message = z.infer<typeof messageSchema>;
export type UserMessage = z.infer<typeof user>;
export type AssistantMessage = z.infer<typeof assistant>;
export type ToolResult = z.infer<typeof toolResult>;

export function userMessage(said: string, uuid: string | null = null): UserMessage {
  return { role: 'user', parts: [{ type: 'text', text: said }], uuid };
}

/** The tool calls of a message, in order. */
export function callsOf(message: AssistantMessage): ToolCall[] {
  return message.parts.filter((part) => part.type === 'tool-call');
}

/** The text of a message without reasoning and calls. */
export function textOf(message: AssistantMessage): string {
  return message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
}
