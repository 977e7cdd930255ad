import type { Message } from '../conversation/message.ts';
import { userMessage } from '../conversation/message.ts';
import { engineLimits } from '../limit.ts';

const request = `Summarise this conversation for yourself: you will continue with nothing but the summary. Keep the task in the user's own words, decisions and their reasons, files that were read or changed and what matters in them, commands and their results, open problems, and the next step. Write only the summary.`;

/**
 * The messages to ask for a summary with: long tool results are shortened. `half` leaves out the older half, for a
 * conversation that is too long even so.
 */
export function summaryRequest(messages: readonly Message[], half: boolean): Message[] {
  const start = Math.max(
    0,
    messages.findLastIndex(({ role }) => role === 'summary'),
  );
  const recent = messages.slice(start);
  const kept = half ? recent.slice(Math.floor(recent.length / 2)) : recent;
  return [...kept.map(shortened), userMessage(request)];
}

function shortened(message: Message): Message {
  if (message.role !== 'tool-result') return message;
  const most = engineLimits.summarisedCharacters;
  const text = message.text.length > most ? `${message.text.slice(0, most)} […]` : message.text;
  return { ...message, text, images: [] };
}
