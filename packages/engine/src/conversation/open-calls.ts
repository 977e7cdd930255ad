import type { Message, ToolCall } from './message.ts';
import { callsOf } from './message.ts';

/** The tool calls of a conversation that have no result: a process ended while one ran or waited. */
export function openCalls(messages: readonly Message[]): ToolCall[] {
  const answered = new Set(messages.flatMap((message) => (message.role === 'tool-result' ? [message.callId] : [])));
  return messages
    .flatMap((message) => (message.role === 'assistant' ? callsOf(message) : []))
    .filter(({ id }) => !answered.has(id));
}
