import { EventEmitter } from 'node:events';
import type { Terminal } from '../src/terminal/screen.ts';

/** A terminal that keeps what is written to it; keys are typed with `press`. */
export type FakeTerminal = Terminal & {
  output: Terminal['output'] & { columns: number; rows: number };
  written: string[];
  isRaw(): boolean;
  press(keys: string): void;
  resize(columns: number, rows: number): void;
  listeners(): number;
};

/** Makes a terminal of 80 by 24. */
export function fakeTerminal(): FakeTerminal {
  const keyboard = new EventEmitter();
  const screen = new EventEmitter();
  const written: string[] = [];
  let raw = false;
  const input = Object.assign(keyboard, {
    isTTY: true,
    setRawMode: (on: boolean) => void (raw = on),
    resume: () => {},
    pause: () => {},
  });
  const output = Object.assign(screen, {
    isTTY: true,
    columns: 80,
    rows: 24,
    write: (text: string) => void written.push(text),
  });
  return {
    input,
    output,
    written,
    isRaw: () => raw,
    press: (keys) => void keyboard.emit('data', Buffer.from(keys)),
    resize(columns, rows) {
      Object.assign(output, { columns, rows });
      screen.emit('resize');
    },
    listeners: () => keyboard.listenerCount('data') + screen.listenerCount('resize'),
  };
}
