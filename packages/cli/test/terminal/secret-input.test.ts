import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { readSecret } from '../../src/terminal/secret-input.ts';
import { fakeTerminal } from '../fake-terminal.ts';

describe('a pipe', () => {
  const piped = (...parts: string[]) => {
    const input = new PassThrough();
    for (const part of parts) input.write(part);
    input.end();
    return readSecret('key: ', input, { write: () => expect.unreachable('nothing is asked of a pipe') });
  };

  test.each([
    [['sk-1234'], 'sk-1234'],
    [['sk-', '1234\n'], 'sk-1234'],
    [['  sk-1234\r\n\r\n'], 'sk-1234'],
  ])('%j is %j', async (parts, secret) => {
    expect(await piped(...parts)).toBe(secret);
  });

  test.each([[['']], [[' \n']]])('%j is none', async (parts) => {
    await expect(piped(...parts)).rejects.toMatchObject({ code: 'usage' });
  });

  test('endless input is refused', async () => {
    await expect(piped('x'.repeat(70_000))).rejects.toMatchObject({ code: 'too_large' });
  });
});

describe('a terminal', () => {
  test('shows the prompt, and nothing that is typed', async () => {
    const terminal = fakeTerminal();
    const secret = readSecret('key: ', terminal.input, terminal.output);
    expect(terminal.isRaw()).toBe(true);
    terminal.press('sk-12');
    terminal.press('x\u007F34\r');
    expect(await secret).toBe('sk-1234');
    expect(terminal.written.join('')).toBe('key: \n');
    expect(terminal.isRaw()).toBe(false);
    expect(terminal.listeners()).toBe(0);
  });

  test('Ctrl-C aborts, and restores the terminal', async () => {
    const terminal = fakeTerminal();
    const secret = readSecret('key: ', terminal.input, terminal.output);
    terminal.press('sk-12\u0003');
    await expect(secret).rejects.toMatchObject({ code: 'needs_input' });
    expect(terminal.isRaw()).toBe(false);
  });
});
