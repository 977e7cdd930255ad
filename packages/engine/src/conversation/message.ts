import type { AssistantMessage, ConversationMessage, ToolCall, UserMessage } from '@pawl/schema/conversation/message';

export type {
  AssistantMessage,
  AssistantPart,
  ImagePart,
  TextPart,
  ToolCall,
  ToolResult,
  VendorFacts,
} from '@pawl/schema/conversation/message';
export type Message = ConversationMessage;

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
