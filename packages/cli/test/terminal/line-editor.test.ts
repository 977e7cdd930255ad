import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Key, Line } from '../../src/terminal/line-editor.ts';
import { createKeyReader, emptyLine, pressKey, textOf, windowOf } from '../../src/terminal/line-editor.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

/** Types keys into a line; returns it and the lines that were entered. */
function type(text: string, line: Line = emptyLine()): { line: Line; entered: string[] } {
  const entered: string[] = [];
  for (const key of createKeyReader()(bytes(text))) {
    const effect = pressKey(line, key);
    if (effect.kind === 'enter') entered.push(effect.text);
    if (effect.kind === 'edit' || effect.kind === 'enter') line = effect.line;
  }
  return { line, entered };
}

test.each([
  ['hello', 'hello', 5],
  ['helo\u001B[Dl', 'hello', 4],
  ['abc\u0001x', 'xabc', 1],
  ['abc\u007F', 'ab', 2],
  ['one two\u0017', 'one ', 4],
  ['one two\u0015', '', 0],
  ['abc\u0001\u000B', '', 0],
  ['abc\u0001\u001B[3~', 'bc', 0],
  ['ab\u001B[H\u001B[Fc', 'abc', 3],
  ['é👩‍👩‍👧x\u007F\u007F', 'é', 1],
  ['a\u001B[200~b\r\nc\u001B[201~d', 'ab\ncd', 5],
  ['a\u001B[99;5ub', 'ab', 2],
])('typing %j gives %j', (keys, text, cursor) => {
  const { line } = type(keys);
  expect([textOf(line), line.cursor]).toEqual([text, cursor]);
});

test('an entered line can be recalled, and the new one stays empty', () => {
  const { line, entered } = type('first\rsecond\r');
  expect(entered).toEqual(['first', 'second']);
  expect(textOf(line)).toBe('');
  expect(textOf(type('\u001B[A\u001B[A', line).line)).toBe('first');
  expect(textOf(type('\u001B[A\u001B[A\u001B[B\u001B[B', line).line)).toBe('');
});

test('Ctrl-C is for the program, Ctrl-D leaves only an empty line', () => {
  const control = (name: string): Key => ({ kind: 'control', name });
  expect(pressKey(emptyLine(), control('interrupt')).kind).toBe('interrupt');
  expect(pressKey(emptyLine(), control('end-of-input')).kind).toBe('leave');
  expect(pressKey(type('x').line, control('end-of-input')).kind).toBe('edit');
});

test('keys are the same however the terminal splits them', () => {
  const whole = 'aé\u001B[D\u001B[200~x\ny\u001B[201~👍\u001B[3~\r';
  const expected = createKeyReader()(bytes(whole));
  const merged = (keys: Key[]) =>
    keys.reduce<Key[]>((all, key) => {
      const last = all.at(-1);
      // A text may come in several keys.
      if (key.kind === 'text' && last?.kind === 'text')
        return [...all.slice(0, -1), { kind: 'text', text: last.text + key.text }];
      return [...all, key];
    }, []);
  fc.assert(
    fc.property(fc.array(fc.nat({ max: bytes(whole).length }), { maxLength: 6 }), (cuts) => {
      const read = createKeyReader();
      const at = [0, ...cuts.toSorted((one, other) => one - other), bytes(whole).length];
      const keys = at.slice(1).flatMap((end, index) => read(bytes(whole).slice(at[index], end)));
      expect(merged(keys)).toEqual(merged(expected));
    }),
  );
});

test('a long line is shown around its cursor, and nothing in it moves the terminal', () => {
  const { line } = type(`${'x'.repeat(100)}end`);
  expect(windowOf(line, 10)).toEqual({ text: 'xxxxxxend', column: 9 });
  const start = type('\u0001', line).line;
  expect(windowOf(start, 10)).toEqual({ text: 'xxxxxxxxx', column: 0 });
  expect(windowOf(type('\u001B[200~a\u001B[2Jb\nc\u001B[201~').line, 40).text).toBe('a [2Jb⏎c');
});
