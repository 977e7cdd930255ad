import { describe, expect, test } from 'vitest';
import type { SessionCommand, SessionGiven } from '../../src/command.ts';
import { sessionCommand } from '../../src/command.ts';
import { checkPatterns } from '../../src/fault.ts';
import { builtInPresets } from '../../src/preset/built-in.ts';
import { outputParsers } from '../../src/parser.ts';
import { splitWords } from '../../src/words.ts';

const presets = builtInPresets({
  scriptedAgent: ['node', 'scripted.ts'],
  bridge: ['node', 'bridge.ts'],
  engine: ['node', 'pawl-engine.mjs'],
  engineState: '/engine',
  scriptedState: '/state',
});
const presetOf = (name: string) => presets.find((each) => each.name === name)!;

const fresh: SessionGiven = {
  conversation: { kind: 'new', chosenId: 'new-id' },
  model: null,
  options: { command: 'agent --acp' },
  tools: { allowed: null, denied: [] },
  access: 'full',
  prompt: { system: null, turn: 'do it' },
  directory: '/session',
  worktree: '/tree',
  mcpServers: {},
  hook: null,
  blockSettings: false,
  baseUrl: null,
};
const start = (name: string, given: Partial<SessionGiven> = {}): SessionCommand =>
  sessionCommand(presetOf(name), { ...fresh, ...given });

const quiet =
  '-c check_for_update_on_startup=false -c analytics.enabled=false -c features.plugins=false -c features.apps=false';
const lines: [name: string, words: string][] = [
  [
    'claude',
    'claude -p --input-format stream-json --output-format stream-json --verbose --include-partial-messages --replay-user-messages --dangerously-skip-permissions',
  ],
  ['codex', `codex exec --json --skip-git-repo-check ${quiet} --dangerously-bypass-approvals-and-sandbox`],
  ['gemini', 'gemini --output-format stream-json --approval-mode yolo'],
  ['opencode', 'opencode run --format json --title pawl --print-logs --log-level ERROR --auto'],
  ['qwen', 'qwen --input-format stream-json --output-format stream-json --include-partial-messages --yolo'],
  ['pi', 'pi --mode json -p --approve'],
  ['copilot', 'copilot --output-format json --no-ask-user --no-auto-update --disable-client-telemetry --allow-all'],
  ['aider', 'aider --no-pretty --no-stream --no-check-update --no-analytics --no-gitignore --yes-always'],
  ['cline', 'cline --json --auto-approve true'],
  ['continue', 'cn -p --format json --auto'],
  ['cursor-agent', 'cursor-agent -p --output-format stream-json --force'],
  ['generic', '/bin/sh -c'],
  ['acp', 'node bridge.ts acp --permission full'],
  ['codex-live', 'node bridge.ts codex --permission full'],
  ['pi-live', 'node bridge.ts pi --permission full'],
  ['copilot-acp', 'node bridge.ts acp --permission full'],
  ['gemini-acp', 'node bridge.ts acp --permission full'],
  ['opencode-acp', 'node bridge.ts acp --permission full'],
  ['qwen-acp', 'node bridge.ts acp --permission full'],
  ['pawl', 'node pawl-engine.mjs --include-partial-messages --replay-user-messages --access full'],
];
const first = Object.fromEntries(lines);
first['claude-code'] = first['claude']!;

test('mail goes into a running turn only if the CLI echoes its input', () => {
  const listening = presets.filter(({ promptMode }) => promptMode === 'stream-json');
  expect(Object.fromEntries(listening.map(({ name, echoes }) => [name, echoes]))).toEqual({
    claude: true,
    'claude-code': true,
    qwen: false,
    acp: true,
    'codex-live': true,
    'pi-live': true,
    'copilot-acp': true,
    'gemini-acp': true,
    'opencode-acp': true,
    'qwen-acp': true,
    pawl: true,
    scripted: true,
  });
  expect(presetOf('scripted').command).toContain('--replay-user-messages');
});

test('the seven old names exist, and all others, each once [S3-44]', () => {
  const names = presets.map(({ name }) => name);
  expect(names.toSorted()).toEqual([...Object.keys(first), 'scripted'].toSorted());
  const old = ['claude', 'claude-code', 'codex', 'aider', 'cline', 'continue', 'cursor-agent'];
  for (const name of old) expect(names).toContain(name);
});

test('claude-code is claude under its second name, in everything [S3-06]', () => {
  const { name: _, description: __, ...alias } = presetOf('claude-code');
  expect(presetOf('claude')).toMatchObject(alias);
  expect(Object.keys(alias).length).toBeGreaterThan(20);
});

test('a CLI that cannot ask names the provider that asks for it, with the same accounts', () => {
  const pairs = presets.flatMap(({ name, access }) => (access.askWith === undefined ? [] : [[name, access.askWith]]));
  expect(Object.fromEntries(pairs)).toEqual({
    codex: 'codex-live',
    copilot: 'copilot-acp',
    gemini: 'gemini-acp',
    opencode: 'opencode-acp',
    qwen: 'qwen-acp',
  });
  for (const [name = '', asking = ''] of pairs) {
    expect(presetOf(name).access.ask).toBeNull();
    expect(presetOf(asking)).toMatchObject({ accountsOf: name, access: { ask: expect.arrayContaining(['ask']) } });
  }
});

test('copilot and qwen take their model from a variable in ACP mode', () => {
  for (const [name, variable] of [
    ['copilot-acp', 'COPILOT_MODEL'],
    ['qwen-acp', 'OPENAI_MODEL'],
  ] as const) {
    const { args, env } = start(name, { model: 'large', conversation: { kind: 'new', chosenId: null } });
    expect(env).toMatchObject({ [variable]: 'large' });
    expect(args).not.toContain('large');
  }
});

test('each preset names a parser, and no parser is unused [S3-12]', () => {
  const formats = Object.groupBy(presets, ({ outputFormat }) => outputFormat);
  const names = Object.entries(formats).map(([format, each]) => [format, each.map(({ name }) => name).toSorted()]);
  expect(Object.fromEntries(names)).toEqual({
    'claude-stream-json': [
      'acp',
      'claude',
      'claude-code',
      'codex-live',
      'copilot-acp',
      'cursor-agent',
      'gemini-acp',
      'opencode-acp',
      'pawl',
      'pi-live',
      'qwen',
      'qwen-acp',
      'scripted',
    ],
    'continue-json': ['continue'],
    'codex-exec': ['codex'],
    'gemini-stream-json': ['gemini'],
    'opencode-json': ['opencode'],
    'pi-json': ['pi'],
    'copilot-json': ['copilot'],
    'cline-json': ['cline'],
    text: ['aider', 'generic'],
  });
  expect(Object.keys(formats).toSorted()).toEqual(Object.keys(outputParsers).toSorted());
});

test('the engine is handed the conversation in a file [7.20]', () => {
  const { args, files } = start('pawl', { handedOver: 'lines\n' });
  expect(args.slice(-4)).toEqual(['--session-id', 'new-id', '--conversation', '/session/conversation.jsonl']);
  expect(files).toEqual([{ path: 'conversation.jsonl', content: 'lines\n' }]);
  expect(start('claude', { handedOver: 'lines\n' }).files).toEqual([]);
});

describe('the command line of each [S3-44, S3-45]', () => {
  const bridged = (name: string) => `-- ${name === 'pi' ? 'pi --mode rpc --approve' : `codex app-server ${quiet}`}`;
  test.each<[name: string, asNew: string, resumed: string | null, forked: string | null]>([
    ...['claude', 'claude-code'].map((name): [string, string, string, string] => [
      name,
      '--session-id new-id',
      '--resume old-id',
      '--resume old-id --fork-session --session-id new-id',
    ]),
    ['codex', '-', 'resume old-id -', 'fork old-id -'],
    ['gemini', '--session-id new-id', '--resume old-id', null],
    ['opencode', '', '--session old-id', null],
    ['qwen', '--session-id new-id', '--resume old-id', null],
    ['pi', '--session-id new-id', '--session old-id', '--fork old-id --session-id new-id'],
    ['copilot', '--session-id=new-id', '--resume=old-id', null],
    ['aider', '--message-file /session/prompt.txt', null, null],
    ['cline', 'do+it', null, null],
    ['continue', 'do+it', null, null],
    ['cursor-agent', 'do+it', '--resume old-id do+it', null],
    ['generic', 'agent+--acp', null, null],
    ['acp', '-- /bin/sh -c agent+--acp', '--resume old-id -- /bin/sh -c agent+--acp', null],
    [
      'codex-live',
      bridged('codex'),
      `--resume old-id ${bridged('codex')}`,
      `--resume old-id --fork-session ${bridged('codex')}`,
    ],
    [
      'pi-live',
      `--session-id new-id ${bridged('pi')}`,
      `--resume old-id ${bridged('pi')}`,
      `--resume old-id --fork-session --session-id new-id ${bridged('pi')}`,
    ],
    ...[
      'gemini --acp --approval-mode default',
      'qwen --acp --approval-mode default',
      'copilot --acp --no-auto-update --disable-client-telemetry',
      'opencode acp',
    ].map((line): [string, string, string, null] => [
      `${line.split(' ')[0]}-acp`,
      `-- ${line}`,
      `--resume old-id -- ${line}`,
      null,
    ]),
  ])('%s', (name, ...endings) => {
    const conversations: SessionGiven['conversation'][] = [
      { kind: 'new', chosenId: 'new-id' },
      { kind: 'resume', providerSessionId: 'old-id' },
      { kind: 'fork', providerSessionId: 'old-id', chosenId: 'new-id' },
    ];
    for (const [index, conversation] of conversations.entries()) {
      const ending = endings[index] ?? null;
      if (ending === null) {
        expect(() => start(name, { conversation })).toThrow(/cannot (resume|fork) a conversation/);
        continue;
      }
      const { command, args } = start(name, { conversation });
      const expected = `${first[name]} ${ending}`.trim().split(' ');
      expect([command, ...args]).toEqual(expected.map((word) => word.replaceAll('+', ' ')));
    }
  });
});

test.each<[string, string]>([
  ['claude', '--permission-mode dontAsk --allowedTools Bash(pawl:*),mcp__pawl'],
  ['codex', '-s read-only'],
  ['gemini', '--approval-mode plan'],
  ['qwen', '--approval-mode plan'],
  ['pi', '--exclude-tools bash,edit,write,powershell'],
  ['codex-live', '--permission read-only'],
])('%s is made read-only by %s, and nothing gives it full access', (name, words) => {
  const { args } = start(name, { access: 'read-only' });
  expect(args.join(' ')).toContain(words);
  for (const word of presetOf(name).access.full.filter((each) => /dangerously|yolo|full/.test(each)))
    expect(args).not.toContain(word);
});

test('opencode is made read-only by a variable', () => {
  const { args, env } = start('opencode', { access: 'read-only' });
  expect(args.join(' ')).not.toContain('env:');
  expect(JSON.parse(env['OPENCODE_PERMISSION'] ?? '')).toMatchObject({ edit: 'deny', bash: 'deny' });
});

test.each<[string, string[], Record<string, string>]>([
  ['claude', ['--setting-sources', 'user', '--strict-mcp-config', '--add-dir', '.'], {}],
  ['codex', ['-c', 'projects={"/tree"={trust_level="untrusted"}}'], {}],
  ['opencode', [], { OPENCODE_DISABLE_PROJECT_CONFIG: '1' }],
  ['pi', ['--no-approve'], {}],
])('%s ignores the settings of a repository', (name, words, env) => {
  const open = start(name);
  const blocked = start(name, { blockSettings: true });
  expect(blocked.args.filter((word) => !open.args.includes(word))).toEqual(words.filter((word) => word !== '-c'));
  expect(blocked.env).toEqual(env);
});

test('codex gets a base URL by arguments, which name the variable of the key and not the key', () => {
  const { args } = start('codex', { baseUrl: 'http://127.0.0.1:1/v1' });
  expect(args).toContain('model_providers.pawl.base_url="http://127.0.0.1:1/v1"');
  expect(args).toContain('model_providers.pawl.env_key="CODEX_API_KEY"');
  const live = start('codex-live', { baseUrl: 'http://127.0.0.1:1/v1' }).args;
  expect(live.indexOf('model_provider="pawl"')).toBeGreaterThan(live.indexOf('app-server'));
});

test('claude gets its system prompt as a file, also when resumed [S4-22]', () => {
  const { args, files } = start('claude', { prompt: { system: 'you are', turn: 'go' } });
  expect(args.join(' ')).toContain(
    '--append-system-prompt-file /session/system-prompt.md --system-prompt-snapshot off',
  );
  expect(files).toEqual([{ path: 'system-prompt.md', content: 'you are' }]);
});

describe.each(presets.map((preset) => [preset.name, preset] as const))('%s', (_name, preset) => {
  test('has a valid parser and patterns', () => {
    expect(outputParsers[preset.outputFormat]).toBeDefined();
    expect(() => checkPatterns(preset.patterns)).not.toThrow();
  });

  test('has no secret in its settings, and says how to install it', () => {
    for (const name of preset.variables.settings) expect(name).not.toMatch(/KEY|TOKEN(?!S)|SECRET|PASSWORD/);
    const isOurs = ['scripted', 'generic', 'acp', 'pawl'].includes(preset.name);
    expect(preset.install === null).toBe(isOurs);
  });

  test('offers only supported options', () => {
    expect(preset.forkStyle === 'native').toBe(preset.fork !== null);
    expect(preset.silence.noticeMs).toBeLessThan(preset.silence.hangMs);
    const { args } = splitWords(preset.command);
    expect(args).toEqual(preset.command);
  });
});
