import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider';
import type { ContextUsage } from '@pawl/schema/runtime/context-usage';
import type { Message } from './message.ts';

/** A token of English text or code is about this long. */
const tokenCharacters = 4;

/** Measures a prompt that continues a conversation. */
export function contextUsage(
  prompt: LanguageModelV4Prompt,
  messages: readonly Message[],
  { stage, tokenLimit }: { stage: ContextUsage['stage']; tokenLimit: number },
): ContextUsage {
  const characters = prompt.reduce((sum, message) => sum + charactersOf(message), 0);
  const summaries = messages.filter(({ role }) => role === 'summary').length;
  return {
    stage,
    message_count: prompt.length,
    char_count: characters,
    estimated_tokens: Math.ceil(characters / tokenCharacters),
    token_limit: tokenLimit,
    compressed: summaries > 0,
    summary_count: summaries,
  };
}

/** The text of a message; pictures have none. */
function charactersOf({ content }: LanguageModelV4Message): number {
  if (typeof content === 'string') return content.length;
  return content.reduce((sum, part) => {
    if (part.type === 'text' || part.type === 'reasoning') return sum + part.text.length;
    if (part.type === 'tool-call') return sum + JSON.stringify(part.input).length;
    if (part.type !== 'tool-result') return sum;
    const { output } = part;
    if (output.type === 'text' || output.type === 'error-text') return sum + output.value.length;
    if (output.type !== 'content') return sum;
    return sum + output.value.reduce((own, each) => own + (each.type === 'text' ? each.text.length : 0), 0);
  }, 0);
}
