import type { OutputChunk } from '@pawl/protocol/sessions/view';
import type { StreamEvent } from '@pawl/schema/stream-event';
import { clockTime, tokens } from './format.ts';
import type { Palette } from '../terminal/terminal.ts';
import { printable, printableLine } from '../terminal/terminal.ts';

/** Shows an agent's output to a person as it arrives. */
export type LogView = {
  show(chunk: OutputChunk): void;
  /** Ends an unfinished line. */
  end(): void;
};

type UsageEvent = Extract<StreamEvent, { type: 'usage' }>;

/**
 * Writes to a terminal or a file. Text pieces are written as they arrive; when the whole text follows, only the missing
 * part is added.
 */
export function createLogView(colours: Palette, write: (text: string) => void): LogView {
  /** A line is unfinished. */
  let open = false;
  /** Pieces of the current text. */
  let said = '';
  /** The input usage of a model call whose answer is unfinished. */
  let sent = 0;

  function end(): void {
    if (open) write('\n');
    open = false;
  }

  function piece(text: string, at: number): void {
    if (text === '') return;
    if (!open) write(`${colours.dim(clockTime(at))} `);
    write(printable(text));
    open = true;
  }

  function showEvent(event: StreamEvent, at: number): void {
    if (event.type === 'text' && event.piece === true) return piece(event.text, at);
    if (event.type === 'text-delta') {
      said += event.text;
      return piece(event.text, at);
    }
    if (event.type === 'text' && said !== '' && event.text.startsWith(said)) {
      piece(event.text.slice(said.length), at);
      said = '';
      return end();
    }
    if (event.type === 'usage') return showUsage(event, at);
    const words = describe(event, colours);
    if (words === null) return;
    said = '';
    end();
    write(`${colours.dim(clockTime(at))} ${words}\n`);
  }

  /** Usage in one dim line: of one model call, this session, or the conversation so far. */
  function showUsage(event: UsageEvent, at: number): void {
    sent += (event.inputTokens ?? 0) + (event.cachedTokens ?? 0);
    // A call's input is reported before its answer, its output after.
    if (event.scope === 'call' && (event.outputTokens ?? 0) === 0) return;
    const words = usageInWords(event, sent);
    sent = 0;
    if (words === null) return;
    end();
    write(`${colours.dim(`${clockTime(at)} ${words}`)}\n`);
  }

  return {
    show: (chunk) => {
      for (const event of chunk.events ?? []) showEvent(event, chunk.at);
    },
    end,
  };
}

/** Describes an agent's action in a line or a few. Null if a person need not see it. */
function describe(event: Exclude<StreamEvent, { type: 'text-delta' | 'usage' }>, colours: Palette): string | null {
  switch (event.type) {
    case 'text':
      return printable(event.text);
    case 'thinking':
      return colours.dim(printable(event.text));
    case 'tool-call':
      return `${colours.cyan('▸')} ${colours.bold(printableLine(event.name))} ${printableLine(event.input)}`;
    case 'tool-result':
      return event.text.trim() === ''
        ? null
        : `  ${(event.isError ? colours.red : colours.dim)(printable(event.text.trimEnd()).replaceAll('\n', '\n  '))}`;
    case 'limit':
      return colours.yellow(`usage limit${event.until === null ? '' : ` until ${clockTime(event.until)}`}`);
    case 'retry':
      return colours.yellow(printable(event.text));
    case 'result':
      return event.ok ? colours.green('■ turn ended') : colours.red(`■ ${printable(event.text)}`);
    case 'unknown':
      return event.text.trim() === '' ? null : printable(event.text);
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
