import { expect, test } from 'vitest';
import { baseAccount } from '../src/preset/base.ts';
import { withCustomPresets } from '../src/custom.ts';
import { builtInPresets } from '../src/preset/built-in.ts';
import { providerRegistry } from '../src/registry.ts';

const builtIn = builtInPresets({
  scriptedAgent: ['node', 's'],
  bridge: ['node', 'b'],
  engine: ['node', 'e'],
  engineState: '/engine',
  scriptedState: '/state',
});
const named = (name: string, presets = builtIn) => presets.find((preset) => preset.name === name)!;
const load = (entries: Record<string, unknown>) => withCustomPresets(builtIn, entries);

test('an entry adds a provider that overrides fields of another [S3-45]', () => {
  const { presets, problems } = load({
    mine: {
      extends: 'claude',
      description: 'through our gateway',
      command: ['/opt/claude', '-p'],
      env: { ANTHROPIC_BASE_URL: 'http://gateway' },
      silence: { notice_ms: 5_000 },
      access: { read_only: null },
      account: { base_url: 'GATEWAY', base_url_arguments: ['--url', '{baseUrl}'] },
      options: { speed: ['--speed', '{value}'] },
      first_signal: 'SIGTERM',
    },
  });
  expect(problems).toEqual([]);
  const claude = named('claude');
  // Which settings send its key elsewhere was examined for Claude's own variables only.
  const { elsewhere, ...account } = claude.account ?? baseAccount;
  expect(elsewhere).toBeDefined();
  expect(named('mine', presets)).toEqual({
    ...claude,
    name: 'mine',
    description: 'through our gateway',
    command: ['/opt/claude', '-p'],
    env: { ...claude.env, ANTHROPIC_BASE_URL: 'http://gateway' },
    silence: { ...claude.silence, noticeMs: 5_000 },
    access: { ...claude.access, readOnly: null },
    account: { ...account, baseUrl: 'GATEWAY', baseUrlArguments: ['--url', '{baseUrl}'] },
    options: { ...claude.options, speed: ['--speed', '{value}'] },
    firstSignal: 'SIGTERM',
  });
  expect(named('claude', presets)).toBe(claude);
});

test('a custom CLI does not echo its input, unless the entry says so', () => {
  const live = { command: ['tool'], prompt_mode: 'stream-json' };
  const { presets } = load({ tool: live, told: { ...live, echoes: true }, mine: { extends: 'claude' } });
  expect(['tool', 'told', 'mine'].map((name) => named(name, presets).echoes)).toEqual([false, true, true]);
});

test('an entry with the name of a provider overrides it, in its place', () => {
  const { presets } = load({ codex: { env: { RUST_LOG: 'error' } } });
  expect(presets.map(({ name }) => name)).toEqual(builtIn.map(({ name }) => name));
  const { askWith, ...access } = named('codex').access;
  expect(askWith).toBe('codex-live');
  // Its own settings would be lost with another provider.
  expect(named('codex', presets)).toEqual({ ...named('codex'), env: { RUST_LOG: 'error' }, access });
});

test('a command alone makes a provider whose output is text [S3-51]', () => {
  const { presets, problems } = load({
    tool: { command: ['tool', '--quietly'] },
    same: { extends: 'generic', command: ['t'] },
  });
  expect(problems).toEqual([]);
  expect(named('tool', presets)).toMatchObject({
    command: ['tool', '--quietly'],
    promptMode: 'stdin',
    promptArguments: [],
    outputFormat: 'text',
    options: {},
    account: null,
  });
  expect(named('same', presets).promptArguments).toEqual([]);
});

test('an entry that names another program is found by that', () => {
  const { presets } = load({ 'codex-live': { command: ['mine'] }, 'pi-live': { env: {} } });
  expect(named('codex-live', presets).program).toBeUndefined();
  expect(named('pi-live', presets).program).toBe('pi');
});

test.each<[string, unknown, RegExp]>([
  ['mine', { extends: 'nobody' }, /providers\.mine: it extends "nobody", and there are only claude, /],
  ['mine', { extends: 'claude', colour: 'red' }, /colour/],
  ['mine', { extends: 'claude', access: { readOnly: [] } }, /readOnly[^]*access/],
  ['mine', { extends: 'claude', command: [] }, /command/],
  ['mine', { extends: 'claude', command: 'claude -p' }, /command/],
  ['mine', { extends: 'claude', env: { 'A B': 'x' } }, /env/],
  ['mine', { extends: 'claude', env: { PORT: 1 } }, /env/],
  ['mine', { extends: 'claude', prompt_mode: 'telepathy' }, /prompt_mode/],
  ['mine', { extends: 'claude', account: { files: { '../evil': 'x' } } }, /files/],
  ['mine', { extends: 'claude', patterns: { limit: ['('] } }, /The pattern "\(" for limit/],
  ['mine', { extends: 'claude', patterns: { limit: ['(?=a)'] } }, /The pattern/],
  ['mine', null, /providers\.mine/],
  ['mine', 'claude', /providers\.mine/],
  ['Bad Name', { extends: 'claude' }, /a name is/],
  ['__proto__x', { extends: 'claude' }, /a name is/],
])('an invalid entry is ignored and reported: %s %j', (name, entry, reason) => {
  const { presets, problems } = load({ [name]: entry, good: { extends: 'pi' } });
  expect(problems).toEqual([{ name, reason: expect.stringMatching(reason) as string }]);
  expect(presets.map((preset) => preset.name)).toEqual([...builtIn.map((preset) => preset.name), 'good']);
});

test('a request for an ignored entry is refused with the reason', () => {
  const { presets, problems } = load({ mine: { extends: 'nobody' } });
  const providers = providerRegistry(presets, problems);
  expect(() => providers.get('mine')).toThrow(
    expect.objectContaining({
      code: 'unknown_provider',
      message: expect.stringContaining('extends "nobody"') as string,
    }),
  );
  expect(providers.problems()).toEqual(problems);
});

test('a broken override leaves the original', () => {
  expect(named('claude', load({ claude: { hook: 7 } }).presets)).toBe(named('claude'));
});

test('the number of entries is limited', () => {
  const entries = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`p${index}`, { extends: 'pi' }]));
  expect(load(entries).problems.map(({ name }) => name)).toEqual(['p100']);
});
