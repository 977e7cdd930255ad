/** The terminal streams that a full-screen view needs. */
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
  /** Replaces the content. The lines must fit. */
  draw(lines: string[]): void;
  /** Restores the terminal. Idempotent. */
  close(): void;
};

const enter = '\u001B[?1049h\u001B[?25l';
const leave = '\u001B[?25h\u001B[?1049l';
const home = '\u001B[H';
const clearLine = '\u001B[K';
const clearBelow = '\u001B[J';

/**
 * Takes over the terminal, on the alternate screen. Restores it however the program ends (a key, a signal, an error),
 * at the latest on exit.
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
  // Some terminals do not know their size and report 0.
  const size = () => ({ columns: output.columns || 80, rows: output.rows || 24 });
  return {
    size,
    draw: (lines) => {
      // Clear each line before writing it: after a full one, the cursor is on its last character.
      const rest = lines.length < size().rows ? `\r\n${clearBelow}` : '';
      if (isOpen) output.write(home + lines.map((line) => clearLine + line).join('\r\n') + rest);
    },
    close,
  };
}
