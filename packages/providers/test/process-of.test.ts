import { expect, test } from 'vitest';
import { withCustomPresets } from '../src/custom.ts';
import { builtInPresets } from '../src/preset/built-in.ts';
import { processOf } from '../src/process-of.ts';

const builtIn = builtInPresets({
  scriptedAgent: ['node', 's'],
  bridge: ['node', 'b'],
  engine: ['node', 'e'],
  engineState: '/engine',
  scriptedState: '/state',
});
const processes = (entries: Record<string, unknown>) => {
  const { presets, problems } = withCustomPresets(builtIn, entries);
  return { problems, of: (name: string) => presets.find((preset) => preset.name === name)?.process };
};

test.each([
  [['/opt/bin/tool', '--x'], { names: ['tool'], commandLine: null }],
  [['node', '--flag', '/opt/my-tool.js'], { names: [], commandLine: String.raw`(^|/)my-tool\.js$` }],
  [['python3.12', 'a.py'], { names: [], commandLine: String.raw`(^|/)a\.py$` }],
  [['node'], { names: [], commandLine: null }],
  [['/bin/sh', '-c', 'x'], { names: [], commandLine: null }],
])('the processes of %j are recognised by %j', (command, expected) => {
  expect(processOf(command)).toEqual(expected);
});

test('an entry of config.yaml is recognised by its own command, and by what it builds on [W0-03]', () => {
  const { of, problems } = processes({
    mine: { extends: 'claude', command: ['/opt/mine', '-p'] },
    tool: { command: ['tool'] },
    script: { command: ['node', '/opt/agent.mjs'] },
    claude: { env: {} },
  });
  expect(problems).toEqual([]);
  const claude = builtIn.find(({ name }) => name === 'claude')?.process;
  expect(of('mine')).toEqual({ names: ['claude', 'mine'], commandLine: claude?.commandLine });
  expect(of('tool')).toEqual({ names: ['tool'], commandLine: null });
  expect(of('script')).toEqual({ names: [], commandLine: String.raw`(^|/)agent\.mjs$` });
  expect(of('claude')).toEqual(claude);
});

test('an entry may describe its processes, and an invalid pattern is reported [W0-03]', () => {
  const { of, problems } = processes({
    codex: { process: { names: ['codex', 'kodex'] } },
    tool: { command: ['tool'], process: { command_line: '/tool/main' } },
    wrong: { command: ['wrong'], process: { command_line: '(' } },
    path: { command: ['path'], process: { names: ['/usr/bin/x'] } },
  });
  const codex = builtIn.find(({ name }) => name === 'codex')?.process;
  expect(of('codex')).toEqual({ ...codex, names: ['codex', 'kodex'] });
  expect(of('tool')).toEqual({ names: ['tool'], commandLine: '/tool/main' });
  expect(problems.map(({ name }) => name)).toEqual(['wrong', 'path']);
  expect(problems[0]?.reason).toMatch(/process\.command_line/);
});
