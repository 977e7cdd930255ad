import type { TranscriptPart } from '@pawl/present/agents/transcript';
import { createTranscript } from '@pawl/present/agents/transcript';
import { clockTime } from '@pawl/present/amount';
import type { OutputChunk } from '@pawl/protocol/sessions/view';
import type { Palette } from '../terminal/palette.ts';
import { paintLine } from '../terminal/palette.ts';

/** Shows an agent's output to a person as it arrives. */
export type LogView = {
  show(chunk: OutputChunk): void;
  /** Ends an unfinished line. */
  end(): void;
};

/** Writes a transcript to a terminal or a file, each row after its time. */
export function createLogView(colours: Palette, write: (text: string) => void): LogView {
  const transcript = createTranscript();
  let isOpen = false;

  function end(): void {
    if (isOpen) write('\n');
    isOpen = false;
  }

  function writePart(part: TranscriptPart): void {
    if (!part.continues) {
      end();
      write(`${colours.dim(clockTime(part.at))} `);
    }
    write(textOf(part, colours));
    isOpen = true;
    if (!part.isOpen) end();
  }

  return { show: (chunk) => transcript.add(chunk).forEach(writePart), end };
}

/** The text of a part; a tool's result is indented. */
function textOf({ kind, line }: TranscriptPart, colours: Palette): string {
  const text = paintLine(line, colours);
  return kind === 'tool-result' ? `  ${text.replaceAll('\n', '\n  ')}` : text;
}
