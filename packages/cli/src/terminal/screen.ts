/** The ends of a terminal, as far as a full-screen view needs them. */
export type Terminal = {
  input: {
    isTTY?: boolean;
    setRawMode?(on: boolean): unknown;
    on(event: 'data', take: (data: Buffer) => void): unknown;
    off(event: 'data', take: (data: Buffer) => void): unknown;
    resume(): unknown;
    pause(): unknown;
  };
  output: {
    isTTY?: boolean;
    columns?: number;
    rows?: number;
    write(text: string): unknown;
    on(event: 'resize', take: () => void): unknown;
    off(event: 'resize', take: () => void): unknown;
  };
};

export type Screen = {
  size(): { columns: number; rows: number };
  /** Replaces what is shown. The lines must fit. */
  draw(lines: string[]): void;
  /** Gives the terminal back as it was. May be called more than once. */
  close(): void;
};

const enter = '\u001B[?1049h\u001B[?25l';
const leave = '\u001B[?25h\u001B[?1049l';
const home = '\u001B[H';
const clearLine = '\u001B[K';
const clearBelow = '\u001B[J';

/**
 * Takes the whole terminal, on the screen that leaves no trace. However the program ends (a key, a signal, an error), the
 * terminal is given back: the process's end does it where nobody else has.
 */
export function openScreen({ input, output }: Terminal, heard: { key(text: string): void; resize(): void }): Screen {
  let isOpen = true;
  const take = (data: Buffer) => {
    for (const key of data.toString('latin1')) heard.key(key);
  };
  const close = () => {
    if (!isOpen) return;
    isOpen = false;
    process.off('exit', close);
    output.off('resize', heard.resize);
    input.off('data', take);
    input.pause();
    if (input.isTTY) input.setRawMode?.(false);
    output.write(leave);
  };
  process.once('exit', close);
  output.on('resize', heard.resize);
  if (input.isTTY) {
    input.setRawMode?.(true);
    input.on('data', take);
    input.resume();
  }
  output.write(enter);
  // Some terminals do not know their size and say 0.
  const size = () => ({ columns: output.columns || 80, rows: output.rows || 24 });
  return {
    size,
    draw: (lines) => {
      // Each line is cleared before it is written: after a full one, the cursor stands on its last character.
      const rest = lines.length < size().rows ? `\r\n${clearBelow}` : '';
      if (isOpen) output.write(home + lines.map((line) => clearLine + line).join('\r\n') + rest);
    },
    close,
  };
}
