import type { ProviderPreset } from '@pawl/core/port/provider';
import { describe, expect, test } from 'vitest';
import type { SessionGiven } from '../src/command.ts';
import { userTurnLine } from '@pawl/wire/claude-input';
import { sessionCommand } from '../src/command.ts';
import { baseAccount } from '../src/preset/base.ts';
import { scriptedPreset } from '../src/scripted.ts';

const preset: ProviderPreset = { ...scriptedPreset(['node', 'agent.ts'], '/state'), command: ['agent', '--print'] };
const fresh: SessionGiven = {
  conversation: { kind: 'new', chosenId: 'id-1' },
  model: null,
  options: {},
  tools: { allowed: null, denied: [] },
  access: 'full',
  prompt: { system: null, turn: 'do it' },
  directory: '/sessions/one',
  worktree: '/work/tree',
  mcpServers: {},
  hook: null,
  blockSettings: false,
  baseUrl: null,
};

describe('the arguments of a session [S3-19, S3-40, S3-41]', () => {
  test.each<[string, Partial<ProviderPreset>, Partial<SessionGiven>, string[]]>([
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
      ['{session}$&', "--id=$&$1$$$`$'!"],
    ],
    [
      'all of them, in this order',
      {},
      { model: 'large', options: { scenario: 'a' }, tools: { allowed: ['Read'], denied: ['Write'] } },
      '--model large --tools Read --disallowedTools Write --scenario a --session-id id-1'.split(' '),
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

  test('a provider that cannot branch off a conversation refuses to [7.20]', () => {
    const conversation = { kind: 'fork', providerSessionId: 'old', chosenId: null } as const;
    expect(() => sessionCommand({ ...preset, fork: null }, { ...fresh, conversation })).toThrow(
      expect.objectContaining({ code: 'conflict', message: expect.stringContaining('cannot fork') as string }),
    );
  });
});

describe('limits and additions of a session', () => {
  const able: ProviderPreset = {
    ...preset,
    chooseSession: null,
    tools: null,
    systemPrompt: ['--system', '{file}'],
    access: { full: ['--yolo'], ask: null, readOnly: ['--plan', 'env:MODE=read only={}'] },
    hook: ['--settings', '{file}'],
    mcp: { format: 'claude', arguments: ['--mcp', '@{file}'] },
    account: {
      key: 'KEY',
      token: null,
      baseUrl: null,
      directory: null,
      baseUrlArguments: ['--url="{baseUrl}"', '--key-from={key}'],
      files: {},
      conversations: [],
      credentials: null,
    },
    repositorySettings: { paths: [], block: ['--untrusted="{worktree}"'] },
  };

  test('a base URL that a CLI takes from a file only', () => {
    const account = {
      ...(able.account ?? baseAccount),
      baseUrlArguments: ['--extension', '{file}'],
      baseUrlFile: { name: 'server.mjs', content: 'use("{baseUrl}")' },
    };
    const given = { ...fresh, baseUrl: 'http://localhost:1/a"$&' };
    const { args, files } = sessionCommand({ ...able, account }, given);
    expect(args.join(' ')).toContain('--extension /sessions/one/server.mjs');
    expect(files).toContainEqual({ path: 'server.mjs', content: String.raw`use("http://localhost:1/a\"$&")` });
    expect(sessionCommand({ ...able, account }, fresh).files).toEqual([]);
  });

  test('everything at once, in this order', () => {
    const { args, env, files } = sessionCommand(able, {
      ...fresh,
      model: 'large',
      options: { scenario: 'x' },
      conversation: { kind: 'resume', providerSessionId: 'old' },
      prompt: { system: 'you are', turn: 'go on' },
      mcpServers: { one: { command: 'serve', args: [], env: { TOKEN: 'hidden' } } },
      hook: 'ask',
      blockSettings: true,
      worktree: '/a "quoted" place',
      baseUrl: 'http://localhost:1',
    });
    const given = '--system /sessions/one/system-prompt.md --mcp @/sessions/one/mcp.json';
    const words = [
      `--print --yolo --model large ${given} --settings /sessions/one/hook-settings.json`.split(' '),
      String.raw`--untrusted="/a \"quoted\" place"`,
      '--url="http://localhost:1" --key-from=KEY --scenario x --resume old'.split(' '),
    ];
    expect(args).toEqual(words.flat());
    expect(env).toEqual({});
    expect(files.map(({ path }) => path)).toEqual(['mcp.json', 'system-prompt.md', 'hook-settings.json']);
    expect(files[1]?.content).toBe('you are');
    expect(files[2]?.content).toContain('ask || exit 2');
    expect(args.join(' ')).not.toContain('hidden');
  });

  test('an option for the environment is not an argument', () => {
    const { args, env } = sessionCommand(able, { ...fresh, access: 'read-only' });
    expect(args).toEqual(['--print', '--plan']);
    expect(env).toEqual({ MODE: 'read only={}' });
  });

  test('a bridge passes on tools, settings and servers', () => {
    const bridge: ProviderPreset = {
      ...able,
      tools: { allow: ['--tools', '{tools}'], deny: [] },
      promptArguments: ['--', 'inner', '{rest}', 'last'],
    };
    const tools = { allowed: ['Read'], denied: [] };
    const { args } = sessionCommand(bridge, { ...fresh, tools, blockSettings: true, baseUrl: 'http://x' });
    const rest = ['--tools', 'Read', '--untrusted="/work/tree"', '--url="http://x"', '--key-from=KEY'];
    expect(args).toEqual(['--print', '--yolo', '--', 'inner', ...rest, 'last']);
  });

  test.each<[string, Partial<ProviderPreset>, Partial<SessionGiven>, string, RegExp]>([
    [
      'no read-only mode',
      { access: { full: [], ask: null, readOnly: null } },
      { access: 'read-only' },
      'conflict',
      /no read-only mode/,
    ],
    [
      'kept from settings',
      { repositorySettings: { paths: ['x'], block: null } },
      { blockSettings: true },
      'forbidden',
      /ignore a repository/,
    ],
    [
      'limited to a part of a tool',
      { tools: { allow: ['--tools', '{tools}'], deny: [], names: { Bash: 'bash' } } },
      { tools: { allowed: ['Bash(git:*)'], denied: [] } },
      'conflict',
      /some arguments/,
    ],
    [
      'started without its option',
      { promptArguments: ['{scenario}'] },
      {},
      'invalid_input',
      /needs the option scenario/,
    ],
  ])('a provider that cannot be %s is not started', (_name, changed, given, code, message) => {
    expect(() => sessionCommand({ ...able, ...changed }, { ...fresh, ...given })).toThrow(
      expect.objectContaining({ code, message: expect.stringMatching(message) as string }),
    );
  });

  test('tools have the CLI’s own names', () => {
    const tools: ProviderPreset['tools'] = { allow: ['-t', '{tools}'], deny: ['-x', '{tools}'], names: { Bash: 'sh' } };
    const given = { ...fresh, tools: { allowed: ['Bash', 'Other'], denied: ['Bash'] } };
    expect(sessionCommand({ ...able, tools }, given).args).toEqual(['--print', '--yolo', '-t', 'sh,Other', '-x', 'sh']);
  });
});

describe('the prompt', () => {
  test('it never goes into the arguments', () => {
    const words = sessionCommand(preset, { ...fresh, prompt: { system: null, turn: 'secret-word' } });
    expect(words.args.join(' ')).not.toContain('secret-word');
  });

  test('as stream-json it is one line on a stdin that stays open', () => {
    const turn = 'two\nlines\u2028"';
    const { prompt, stdin } = sessionCommand(preset, { ...fresh, prompt: { system: null, turn } });
    expect(stdin).toBe('fifo');
    expect(prompt.indexOf('\n')).toBe(prompt.length - 1);
    expect(JSON.parse(prompt)).toEqual({ type: 'user', message: { role: 'user', content: turn } });
    expect(prompt).toBe(userTurnLine(turn));
  });

  test('as text it is stdin, to its end', () => {
    const words = sessionCommand({ ...preset, promptMode: 'stdin' }, fresh);
    expect(words).toMatchObject({ prompt: 'do it', stdin: 'file' });
  });

  test('without a system prompt option, all of it is the first turn', () => {
    const given = { ...fresh, prompt: { system: 'you are', turn: 'do it' } };
    expect(sessionCommand({ ...preset, promptMode: 'stdin' }, given).prompt).toBe('you are\n\ndo it');
  });

  const asWord: ProviderPreset = { ...preset, promptMode: 'argument', promptArguments: ['--message', '{prompt}'] };

  test('as an argument it is the last one, and is not parsed as an option', () => {
    const words = sessionCommand(asWord, { ...fresh, prompt: { system: null, turn: '--force {session}\0' } });
    expect(words.args.slice(-2)).toEqual(['--message', '\n--force {session}']);
    expect(words).toMatchObject({ prompt: '', stdin: 'file' });
  });

  test('as an argument it must fit', () => {
    const sized = (bytes: number) => ({ ...fresh, prompt: { system: null, turn: 'é'.repeat(bytes / 2) } });
    expect(sessionCommand(asWord, sized(120 * 1024)).args).toHaveLength(5);
    expect(() => sessionCommand(asWord, sized(120 * 1024 + 2))).toThrow(
      expect.objectContaining({ code: 'too_large', hint: expect.stringContaining('stdin') as string }),
    );
  });

  test('as a file it may be of any size', () => {
    const reads: ProviderPreset = { ...asWord, promptArguments: ['--message-file', '{promptFile}'] };
    const turn = 'x'.repeat(1024 * 1024);
    const { args, files } = sessionCommand(reads, { ...fresh, prompt: { system: null, turn } });
    expect(args.slice(-2)).toEqual(['--message-file', '/sessions/one/prompt.txt']);
    expect(files).toEqual([{ path: 'prompt.txt', content: turn }]);
  });
});

test('a value that looks like a variable is an argument, and never reaches the environment', () => {
  const own: ProviderPreset = { ...preset, access: { full: ['env:OWN=1'], ask: null, readOnly: null } };
  const { args, env } = sessionCommand(own, { ...fresh, model: 'env:NODE_OPTIONS=--require ./evil.cjs' });
  expect(env).toEqual({ OWN: '1' });
  expect(args).toContain('env:NODE_OPTIONS=--require ./evil.cjs');
});
