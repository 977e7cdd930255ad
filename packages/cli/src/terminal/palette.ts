import { width } from '@pawl/present/text';
import type { Line, Tone } from '@pawl/present/tone';

type Paint = (text: string) => string;
export type Palette = Record<'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan', Paint>;

/** Colours for a stream: none if it is not a terminal, or with `NO_COLOR` or `TERM=dumb`. */
export function palette(stream: { isTTY?: boolean }): Palette {
  const on = process.env['FORCE_COLOR']
    ? process.env['FORCE_COLOR'] !== '0'
    : (stream.isTTY ?? false) && !process.env['NO_COLOR'] && process.env['TERM'] !== 'dumb';
  const paint =
    (open: number, close: number): Paint =>
    (text) =>
      on && text !== '' ? `\u001B[${open}m${text}\u001B[${close}m` : text;
  return {
    bold: paint(1, 22),
    dim: paint(2, 22),
    red: paint(31, 39),
    green: paint(32, 39),
    yellow: paint(33, 39),
    cyan: paint(36, 39),
  };
}

const colourOf: Record<Exclude<Tone, 'plain'>, keyof Palette> = {
  strong: 'bold',
  muted: 'dim',
  good: 'green',
  active: 'cyan',
  attention: 'yellow',
  bad: 'red',
};

/** The colour of a tone. */
export function painter(tone: Tone, colours: Palette): Paint {
  return tone === 'plain' ? (text) => text : colours[colourOf[tone]];
}

/** A line in its colours. */
export function paintLine(line: Line, colours: Palette): string {
  return line.map(({ text, tone }) => painter(tone, colours)(text)).join('');
}

/** Our own colours: the only escape sequences in our lines. */
// oxlint-disable-next-line no-control-regex -- these are the escape sequences themselves
const paints = /(\u001B\[\d+m)/;

/** Cuts a coloured line to a number of columns, and resets the colour. */
export function cut(line: string, columns: number): string {
  // Odd parts are colours, from the pattern's group.
  const parts = line.split(paints);
  if (width(parts.filter((_, index) => index % 2 === 0).join('')) <= columns) return line;
  let shown = '';
  let room = columns - 1;
  for (const [index, part] of parts.entries()) {
    if (index % 2 === 1) shown += part;
    else if (room >= 0) {
      for (const character of part) {
        room -= width(character);
        shown += room < 0 ? '…' : character;
        if (room < 0) break;
      }
    }
  }
  return shown;
}
