import type { Message } from '@pawl/schema/record';
import { cutText } from '../shorten.ts';

/** How much of one message a transcript carries. */
const messageCharacters = 8_000;

const speakers: Partial<Record<Message['kind'], string>> = {
  system: 'System',
  user: 'User',
  assistant: 'You',
  tool_call: 'You used a tool',
  tool_result: 'The tool answered',
  summary: 'A summary of what was said before',
};

/**
 * Renders a conversation as text, for an agent whose provider cannot resume it. Drops the oldest messages that do not
 * fit, and says so; null if there is nothing to render.
 */
export function transcriptOf(conversation: readonly Message[], budgetCharacters: number): string | null {
  const told: string[] = [];
  let left = budgetCharacters;
  for (const message of conversation.toReversed()) {
    const text = `${speakers[message.kind] ?? message.kind}:\n${quoted(cutText(message.content, messageCharacters))}`;
    if (text.length > left) break;
    left -= text.length + 2;
    told.push(text);
  }
  if (conversation.length === 0) return null;
  const omitted = conversation.length - told.length;
  const head = omitted === 0 ? [] : [`(${omitted} earlier messages are left out.)`];
  return [...head, ...told.toReversed()].join('\n\n');
}

/** Prefixes every line with a bar, so that no line of a message can imitate the start of another. */
function quoted(text: string): string {
  return text
    .split(/\r\n|[\n\r\u2028\u2029]/)
    .map((line) => `| ${line}`)
    .join('\n');
}
