import type { ProviderPreset } from '@pawl/core/port/provider';
import { describe, expect, test } from 'vitest';
import { sessionCommand, streamJsonMessage } from '../src/command.ts';
import { scriptedPreset } from '../src/scripted.ts';

const preset: ProviderPreset = { ...scriptedPreset(['node', 'agent.ts'], '/state'), command: ['agent', '--print'] };
const fresh: Parameters<typeof sessionCommand>[1] = {
  conversation: { kind: 'new', chosenId: 'id-1' },
  model: null,
  options: {},
  tools: { allowed: null, denied: [] },
  prompt: 'do it',
};

describe('the arguments of a session', () => {
  test.each<[string, Partial<ProviderPreset>, Partial<Parameters<typeof sessionCommand>[1]>, string[]]>([
    ['a new conversation under a chosen id', {}, {}, ['--session-id', 'id-1']],
    ['a new one where none can be chosen', { chooseSession: null }, {}, []],
    ['a resumed one', {}, { conversation: { kind: 'resume', providerSessionId: 'old' } }, ['--resume', 'old']],
    ['a new one where we choose no id', {}, { conversation: { kind: 'new', chosenId: null } }, []],
    [
      '7.20: one that branches off another, under a chosen id',
      {},
      { conversation: { kind: 'fork', providerSessionId: 'old', chosenId: 'id-2' } },
      ['--resume', 'old', '--fork-session', '--session-id', 'id-2'],
    ],
    [
      '7.20: one that branches off another, where no id can be chosen',
      { chooseSession: null },
      { conversation: { kind: 'fork', providerSessionId: 'old', chosenId: 'id-2' } },
      ['--resume', 'old', '--fork-session'],
    ],
    [
      '7.20: one that branches off another, where we choose no id',
      {},
      { conversation: { kind: 'fork', providerSessionId: 'old', chosenId: null } },
      ['--resume', 'old', '--fork-session'],
    ],
    [
      '8.18: tools that are allowed',
      { chooseSession: null },
      { tools: { allowed: ['Read', 'Bash(git:*)'], denied: [] } },
      ['--tools', 'Read,Bash(git:*)'],
    ],
    ['8.18: no tool at all', { chooseSession: null }, { tools: { allowed: [], denied: [] } }, ['--tools', '']],
    [
      '8.18: tools that are denied',
      { chooseSession: null },
      { tools: { allowed: null, denied: ['Write', 'Edit'] } },
      ['--disallowedTools', 'Write,Edit'],
    ],
    [
      '8.18: both',
      { chooseSession: null },
      { tools: { allowed: ['Read'], denied: ['Write'] } },
      ['--tools', 'Read', '--disallowedTools', 'Write'],
    ],
    [
      '7.19: limits that the provider cannot enforce are left out',
      { chooseSession: null, tools: null },
      { tools: { allowed: ['Read'], denied: ['Write'] } },
      [],
    ],
    ['a model', { chooseSession: null }, { model: 'large' }, ['--model', 'large']],
    ['a model where none can be chosen', { chooseSession: null, model: null }, { model: 'large' }, []],
    ['an option', { chooseSession: null }, { options: { scenario: 'a b.yaml' } }, ['--scenario', 'a b.yaml']],
    ['an unknown option', { chooseSession: null }, { options: { constructor: 'x', scenery: 'y' } }, []],
    ['a place inside a word', { chooseSession: ['--id={session},{session}'] }, {}, ['--id=id-1,id-1']],
    [
      'patterns of replacement, which are plain text',
      { chooseSession: ['--id={session}!'], model: ['{model}'] },
      { conversation: { kind: 'new', chosenId: "$&$1$$$`$'" }, model: '{session}$&' },
      ["--id=$&$1$$$`$'!", '{session}$&'],
    ],
    [
      'all of them, in this order',
      {},
      { model: 'large', options: { scenario: 'a' }, tools: { allowed: ['Read'], denied: ['Write'] } },
      '--session-id id-1 --model large --tools Read --disallowedTools Write --scenario a'.split(' '),
    ],
  ])('%s', (_name, changed, given, args) => {
    const words = sessionCommand({ ...preset, ...changed }, { ...fresh, ...given });
    expect(words).toMatchObject({ command: 'agent', args: ['--print', ...args] });
  });

  test('a provider that cannot resume refuses to', () => {
    const conversation = { kind: 'resume', providerSessionId: 'old' } as const;
    expect(() => sessionCommand({ ...preset, resume: null }, { ...fresh, conversation })).toThrow(
      expect.objectContaining({ code: 'conflict', message: expect.stringContaining('cannot resume') as string }),
    );
  });

  test('7.20: a provider that cannot branch off a conversation refuses to', () => {
    const conversation = { kind: 'fork', providerSessionId: 'old', chosenId: null } as const;
    expect(() => sessionCommand({ ...preset, fork: null }, { ...fresh, conversation })).toThrow(
      expect.objectContaining({ code: 'conflict', message: expect.stringContaining('cannot fork') as string }),
    );
  });
});

describe('the prompt', () => {
  test('it never goes into the arguments', () => {
    const words = sessionCommand(preset, { ...fresh, prompt: 'secret-word' });
    expect(words.args.join(' ')).not.toContain('secret-word');
  });

  test('as stream-json it is one line on a stdin that stays open', () => {
    const { prompt, stdin } = sessionCommand(preset, { ...fresh, prompt: 'two\nlines\u2028"' });
    expect(stdin).toBe('fifo');
    expect(prompt.indexOf('\n')).toBe(prompt.length - 1);
    expect(JSON.parse(prompt)).toEqual({ type: 'user', message: { role: 'user', content: 'two\nlines\u2028"' } });
    expect(prompt).toBe(streamJsonMessage('two\nlines\u2028"'));
  });

  test('as text it is stdin, to its end', () => {
    const words = sessionCommand({ ...preset, promptMode: 'text' }, fresh);
    expect(words).toMatchObject({ prompt: 'do it', stdin: 'file' });
  });
});
