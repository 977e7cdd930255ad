import type { TranscriptPart } from '@pawl/present/agents/transcript';
import { createTranscript } from '@pawl/present/agents/transcript';
import type { OutputChunk } from '@pawl/protocol/sessions/view';
import type { Palette } from '../../terminal/palette.ts';
import { paintLine } from '../../terminal/palette.ts';

/** Writes rows to a terminal. */
export type RowWriter = {
  write(text: string): void;
  breakRow(): void;
};

/** How many lines of a tool's result are shown; `pawl logs` has all of it. */
const resultLines = 3;

/** Writes what an agent says and does: text as it comes, a row for each tool call, the beginning of its result. */
export function createChatRows(writer: RowWriter, colours: Palette): (chunk: OutputChunk) => void {
  const transcript = createTranscript();

  function show(part: TranscriptPart): void {
    if (part.kind === 'usage' || isGoodEnd(part)) return;
    if (!part.continues) writer.breakRow();
    writer.write(textOf(part, colours));
    if (!part.isOpen) writer.breakRow();
  }
  return (chunk) => transcript.add(chunk).forEach(show);
}

/** A turn that ends well needs no row of its own. */
function isGoodEnd({ kind, line }: TranscriptPart): boolean {
  return kind === 'result' && line[0]?.tone === 'good';
}

function textOf({ kind, line }: TranscriptPart, colours: Palette): string {
  if (kind !== 'tool-result') return paintLine(line, colours);
  const lines = line
    .map(({ text }) => text)
    .join('')
    .split('\n');
  const more = lines.length > resultLines ? [`… ${lines.length - resultLines} more lines`] : [];
  const tone = line[0]?.tone ?? 'muted';
  return [...lines.slice(0, resultLines), ...more]
    .map((text) => paintLine([{ text: `  ${text}`, tone }], colours))
    .join('\n');
}
