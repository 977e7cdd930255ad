import { PawlError } from '@pawl/schema/error';
import { expect, test } from 'vitest';
import { parseArguments } from '../../src/scripted-agent/arguments.ts';

const id = '0b8e7c1a-5a53-4f0e-9d3c-2f6f3b1d7a10';

test.each([
  [['--frobnicate'], 'Unknown option --frobnicate.'],
  [['-x'], 'Unknown option -x.'],
  [['--session-id', 'not-a-uuid'], '--session-id must be a UUID.'],
  [['--session-id', `../${id}`], '--session-id must be a UUID.'],
  [['--session-id'], '--session-id needs a value.'],
  [['--fork-session'], '--fork-session needs --resume ID.'],
  [['--resume', id, '--session-id', id], 'only with --fork-session'],
  [['--input-format', 'xml'], '--input-format takes text or stream-json, not xml.'],
  [['--output-format', 'text'], '--output-format takes stream-json, not text.'],
  [['--input-format=stream-json', 'do it'], 'the prompt comes on stdin'],
  [['--replay-user-messages'], '--replay-user-messages needs --input-format stream-json.'],
  [['one', 'two'], 'There is a second prompt: two'],
  [['--tools'], '--tools needs a value.'],
  [['--tools', 'Bash(git:*)'], '--tools takes names such as Bash or mcp__files__*, not Bash(git:*).'],
])('%j is refused', (argv, message) => {
  const error = (() => {
    try {
      return parseArguments(argv);
    } catch (reason) {
      return reason;
    }
  })();
  expect(error).toBeInstanceOf(PawlError);
  expect(error).toMatchObject({ code: 'usage', message: expect.stringContaining(message) });
});

test('every option is read, with a space or an equals sign', () => {
  const argv = ['-p', '--resume', id, '--fork-session', `--session-id=${id}`, '--scenario=a=b.yaml', '--model', 'm'];
  expect(
    parseArguments([...argv, '--append-system-prompt', '-x', '--output-format', 'stream-json', '--', '-do']),
  ).toEqual({
    sessionId: id,
    resume: id,
    forkSession: true,
    scenario: 'a=b.yaml',
    model: 'm',
    permission: { allowed: {}, disallowed: [] },
    inputFormat: 'text',
    replayUserMessages: false,
    prompt: '-do',
    help: false,
  });
});
