import { describe, expect, test } from 'vitest';
import { readForkWords } from '../../src/view/fork-words.ts';

/** What came of the words: whom to fork and with what, or the complaint. */
function outcome(words: string[], prompt?: string): unknown {
  try {
    const { reference, prompt: first } = readForkWords(words, prompt);
    return first === undefined ? [reference] : [reference, first];
  } catch (error) {
    const { code, message } = error as { code: string; message: string };
    return `${code}: ${message}`;
  }
}

describe('the arguments of fork [W1-04]', () => {
  test.each<[string, string[], string | undefined, unknown]>([
    ['nothing', [], undefined, ['@current']],
    ['a prompt by option', [], 'go', ['@current', 'go']],
    ['a quoted prompt', ['fix the test'], undefined, ['@current', 'fix the test']],
    ['a prompt with a line break', ['fix\nit'], undefined, ['@current', 'fix\nit']],
    ['an agent', ['brave-otter'], undefined, ['brave-otter']],
    ['an agent and a prompt', ['brave-otter', 'fix it'], undefined, ['brave-otter', 'fix it']],
    ['an agent and a prompt of one word', ['brave-otter', 'go'], undefined, ['brave-otter', 'go']],
    ['an agent and a prompt by option', ['brave-otter'], 'go', ['brave-otter', 'go']],
    ['a prompt that looks like an option', ['@current', '--model x'], undefined, ['@current', '--model x']],
    [
      'an unquoted prompt',
      ['fix', 'the', 'test'],
      undefined,
      'usage: Too many arguments: expected an agent and a prompt.',
    ],
    ['a prompt quoted in part', ['fix the', 'test'], undefined, 'usage: "fix the" is no agent.'],
    ['an empty prompt', [''], undefined, 'usage: The prompt is empty.'],
    ['a prompt of spaces', ['  '], undefined, 'usage: The prompt is empty.'],
    ['an empty prompt for an agent', ['brave-otter', ' '], undefined, 'usage: The prompt is empty.'],
    ['an empty prompt by option', [], '', 'usage: The prompt is empty.'],
    ['two prompts', ['fix the test'], 'go', 'usage: There are two prompts, in words and with --prompt.'],
    ['two prompts and an agent', ['a', 'b'], 'go', 'usage: There are two prompts, in words and with --prompt.'],
  ])('%s: %j, --prompt %j', (_name, words, prompt, expected) => {
    expect(outcome(words, prompt)).toEqual(expected);
  });

  test('an unquoted prompt gets a hint about quotes', () => {
    expect(() => readForkWords(['a', 'b', 'c'])).toThrow(
      expect.objectContaining({ hint: expect.stringContaining('in quotes') as string }),
    );
  });

  test('a word that is not an agent may have been a prompt', () => {
    expect(readForkWords(['refactor']).unlessFound).toMatchObject({
      code: 'agent_not_found',
      message: 'There is no agent "refactor"; a prompt of one word needs --prompt.',
      hint: expect.stringContaining('pawl fork --prompt refactor') as string,
    });
    expect(readForkWords(['it’s$x']).unlessFound?.hint).toContain("--prompt 'it’s$x'");
    expect(readForkWords(['fix', 'it']).unlessFound?.hint).toContain('in quotes');
    expect(readForkWords(['brave-otter'], 'go').unlessFound).toBeUndefined();
  });
});
