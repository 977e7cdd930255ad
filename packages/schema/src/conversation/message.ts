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

/**
 * A message of a conversation as the engine sends it to models: complete, and independent of any vendor. The store has
 * it as rows of the history, and the parts that those cannot hold as the body of a row.
 */
export const conversationMessageSchema = z.discriminatedUnion('role', [user, assistant, toolResult, summary]);
export type ConversationMessage = z.infer<typeof conversationMessageSchema>;
export type UserMessage = z.infer<typeof user>;
export type AssistantMessage = z.infer<typeof assistant>;
export type ToolResult = z.infer<typeof toolResult>;

/** A line of the file in which a process gets its conversation. */
export const conversationLineSchema = z.union([
  z.strictObject({ version: z.literal(1) }),
  z.strictObject({ message: conversationMessageSchema }),
]);
export type ConversationLine = z.infer<typeof conversationLineSchema>;
