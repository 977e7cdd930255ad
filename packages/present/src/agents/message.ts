import type { HistoryPage } from '@pawl/protocol/agents/history/view';
import { printable, printableLine } from '../text.ts';
import type { Tone } from '../tone.ts';

type HistoryMessage = HistoryPage['messages'][number];

/** The tone of a message's kind, by who speaks. */
export function messageKindTone({ kind, inherited }: HistoryMessage): Tone {
  if (kind === 'user' && !inherited) return 'strong';
  return kind === 'assistant' && !inherited ? 'active' : 'muted';
}

/** The tone of a message's text: inherited and forgotten ones are muted. */
export function messageTone({ inherited, forgotten }: HistoryMessage): Tone {
  return inherited || forgotten ? 'muted' : 'plain';
}

/** The text of a message, with a note's data. */
export function messageText({ kind, content, data }: HistoryMessage): string {
  const text = printable(content).replaceAll('\t', '  ');
  if (kind === 'tool_call') return `▸ ${text}`;
  if (kind === 'tool_result' && text.trim() === '') return '(nothing)';
  if (text.trim() !== '' || data === null) return text;
  return Object.entries(data)
    .map(([name, value]) => printableLine(`${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`))
    .join(' ');
}
