import { expect, test } from 'vitest';
import { parseArguments } from '../src/arguments.ts';

test('parses the command line', () => {
  const words = 'codex --resume old --fork-session --session-id new --model m --mode x --permission read-only --steer';
  expect(parseArguments([...words.split(' '), '--', 'codex', 'app-server', '--help'])).toEqual({
    protocol: 'codex',
    sessionId: 'new',
    resume: 'old',
    forkSession: true,
    model: 'm',
    mode: 'x',
    systemPromptFile: null,
    mcpFile: null,
    permission: 'read-only',
    steer: true,
    command: ['codex', 'app-server', '--help'],
  });
  expect(parseArguments(['--help'])).toBeNull();
});

test.each([
  ['telnet -- x', 'The protocol is acp or codex or pi, not "telnet".'],
  ['acp', 'The agent command is missing after "--".'],
  ['acp --', 'The agent command is missing after "--".'],
  ['acp --fork-session -- x', '--fork-session needs --resume ID.'],
  ['acp --resume a --session-id b -- x', '--session-id and --resume go together only with --fork-session.'],
  ['acp --resume --evil -- x', '--resume takes an id, not --evil.'],
  ['acp --permission some -- x', '--permission is full or ask or read-only, not "some".'],
  ['acp --bogus -- x', 'Unknown option --bogus.'],
  ['acp --model -- x', '--model needs a value.'],
])('"%s" is refused', (line, message) => {
  expect(() => parseArguments(line.split(' '))).toThrow(message);
});
