import type { OutputChunk } from '@pawl/protocol/sessions/view';
import type { StreamEvent } from '@pawl/schema/stream-event';
import { clockTime, tokens } from '../amount.ts';
import { printable, printableLine } from '../text.ts';
import type { Line } from '../tone.ts';
import { span } from '../tone.ts';

/** A part of a transcript: a row, or more text for the last row. */
export type TranscriptPart = {
  at: number;
  kind: StreamEvent['type'];
  /** Lines of text are separated by line feeds. */
  line: Line;
  /** Continues the row before it. */
  continues: boolean;
  /** More text of this row may follow. */
  isOpen: boolean;
};

type UsageEvent = Extract<StreamEvent, { type: 'usage' }>;
type WholeEvent = Exclude<StreamEvent, { type: 'text-delta' | 'usage' }>;

/**
 * Turns an agent's output into rows as it arrives. Pieces of a text are shown at once; when the whole text follows,
 * only the missing part is added.
 */
export function createTranscript(): { add(chunk: OutputChunk): TranscriptPart[] } {
  /** The last row may be continued. */
  let isOpen = false;
  /** Pieces of the current text. */
  let said = '';
  /** The input usage of a model call whose answer is unfinished. */
  let sent = 0;

  function part(kind: StreamEvent['type'], at: number, line: Line): TranscriptPart[] {
    isOpen = false;
    return [{ at, kind, line, continues: false, isOpen: false }];
  }

  function piece(text: string, at: number, isLast: boolean): TranscriptPart[] {
    if (text === '' && !(isLast && isOpen)) return [];
    const continues = isOpen;
    isOpen = !isLast;
    return [{ at, kind: 'text', line: [span(printable(text))], continues, isOpen }];
  }

  function usage(event: UsageEvent, at: number): TranscriptPart[] {
    sent += (event.inputTokens ?? 0) + (event.cachedTokens ?? 0);
    // A call's input is reported before its answer, its output after.
    if (event.scope === 'call' && (event.outputTokens ?? 0) === 0) return [];
    const words = usageInWords(event, sent);
    sent = 0;
    return words === null ? [] : part('usage', at, [span(words, 'muted')]);
  }

  function partsOf(event: StreamEvent, at: number): TranscriptPart[] {
    if (event.type === 'text' && event.piece === true) return piece(event.text, at, false);
    if (event.type === 'text-delta') {
      said += event.text;
      return piece(event.text, at, false);
    }
    if (event.type === 'text' && said !== '' && event.text.startsWith(said)) {
      const rest = event.text.slice(said.length);
      said = '';
      return piece(rest, at, true);
    }
    if (event.type === 'usage') return usage(event, at);
    const line = describe(event);
    if (line === null) return [];
    said = '';
    return part(event.type, at, line);
  }

  return { add: ({ events = [], at }) => events.flatMap((event) => partsOf(event, at)) };
}

/** Describes an agent's action in a line or a few. Null if a person need not see it. */
function describe(event: WholeEvent): Line | null {
  switch (event.type) {
    case 'text':
      return [span(printable(event.text))];
    case 'thinking':
      return [span(printable(event.text), 'muted')];
    case 'tool-call':
      return [
        span('▸', 'active'),
        span(' '),
        span(printableLine(event.name), 'strong'),
        span(` ${printableLine(event.input)}`),
      ];
    case 'tool-result':
      if (event.text.trim() === '') return null;
      return [span(printable(event.text.trimEnd()), event.isError ? 'bad' : 'muted')];
    case 'summary':
      return [span('summary of what was said before: ', 'muted'), span(printable(event.text), 'muted')];
    case 'limit':
      return [span(`usage limit${event.until === null ? '' : ` until ${clockTime(event.until)}`}`, 'attention')];
    case 'retry':
      return [span(printable(event.text), 'attention')];
    case 'result':
      return [event.ok ? span('■ turn ended', 'good') : span(`■ ${printable(event.text)}`, 'bad')];
    case 'unknown':
      return event.text.trim() === '' ? null : [span(printable(event.text))];
    default:
      return null;
  }
}

function usageInWords({ outputTokens, costUsd, scope }: UsageEvent, sent: number): string | null {
  const parts = [
    sent > 0 ? `${tokens(sent)} in` : null,
    outputTokens !== null && outputTokens > 0 ? `${tokens(outputTokens)} out` : null,
    costUsd !== null && costUsd > 0 ? `$${costUsd.toFixed(4)}` : null,
  ].filter((part) => part !== null);
  const of = { call: '', session: ' in this session', conversation: ' in this conversation' }[scope];
  return parts.length === 0 ? null : `· ${parts.join(', ')}${of}`;
}
