import type { Message, ToolCall, ToolResult } from './message.ts';
import { callsOf } from './message.ts';

/** The tool calls of a conversation that have no result: a process ended while one ran or waited. */
export function openCalls(messages: readonly Message[]): ToolCall[] {
  const answered = new Set(messages.flatMap((message) => (message.role === 'tool-result' ? [message.callId] : [])));
  return messages
    .flatMap((message) => (message.role === 'assistant' ? callsOf(message) : []))
    .filter(({ id }) => !answered.has(id));
}

/** Tells the model that nobody knows how far a call got, so that it looks before it repeats the call. */
export function interruptedResult(call: ToolCall, started: boolean): ToolResult {
  const text = started
    ? 'Interrupted: the process ended while this tool ran. It may have taken effect, partly or completely. Check before you repeat it.'
    : 'Interrupted: the process ended before this tool ran. It had no effect.';
  return { role: 'tool-result', callId: call.id, name: call.name, text, images: [], isError: true };
}
