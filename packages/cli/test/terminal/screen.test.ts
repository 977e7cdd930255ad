import { expect, test } from 'vitest';
import { openScreen } from '../../src/terminal/screen.ts';
import { fakeTerminal } from '../fake-terminal.ts';

const entered = '\u001B[?1049h\u001B[?25l';
const left = '\u001B[?25h\u001B[?1049l';

test('takes the terminal, draws, and restores it once', () => {
  const terminal = fakeTerminal();
  const screen = openScreen(terminal, { key() {}, resize() {} });
  expect(terminal.isRaw()).toBe(true);
  screen.draw(['a', 'b']);
  screen.close();
  screen.close();
  screen.draw(['c']);
  expect(terminal.written).toEqual([entered, '\u001B[H\u001B[Ka\r\n\u001B[Kb\r\n\u001B[J', left]);
  expect(terminal.isRaw()).toBe(false);
  expect(terminal.listeners()).toBe(0);
});

test('a full screen is not scrolled', () => {
  const terminal = fakeTerminal();
  terminal.resize(80, 2);
  const screen = openScreen(terminal, { key() {}, resize() {} });
  screen.draw(['a', 'b']);
  screen.close();
  expect(terminal.written[1]).toBe('\u001B[H\u001B[Ka\r\n\u001B[Kb');
});

test('the end of the process restores it too', () => {
  const terminal = fakeTerminal();
  const before = process.listeners('exit');
  openScreen(terminal, { key() {}, resize() {} });
  const added = process.listeners('exit').filter((listener) => !before.includes(listener));
  expect(added).toHaveLength(1);
  added[0]?.call(process, 143);
  expect(terminal.written.at(-1)).toBe(left);
  expect(terminal.isRaw()).toBe(false);
  expect(process.listeners('exit')).toEqual(before);
});

test('keys and resizes are handled; a terminal of unknown size has the default one', () => {
  const terminal = fakeTerminal();
  const keys: string[] = [];
  let resized = 0;
  const screen = openScreen(terminal, { key: (key) => keys.push(key), resize: () => (resized += 1) });
  terminal.press('aq');
  terminal.resize(0, 0);
  expect(keys).toEqual(['a', 'q']);
  expect(resized).toBe(1);
  expect(screen.size()).toEqual({ columns: 80, rows: 24 });
  screen.close();
});
