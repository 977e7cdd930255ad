import { builtInPresets } from '@pawl/providers/preset/built-in';
import { expect, test } from 'vitest';
import { agentPrograms, knownPrograms, recogniser } from '../src/agent-program.ts';

const recognise = recogniser(knownPrograms());

test('the patterns come from the presets, for every provider that has a program [W0-03]', () => {
  const presets = builtInPresets({
    scriptedAgent: ['node', 's'],
    bridge: ['node', 'b'],
    engine: ['node', 'e'],
    engineState: '/engine',
    scriptedState: '',
  });
  const found = agentPrograms(presets).map(({ provider }) => provider);
  expect(presets.map(({ name }) => name).filter((name) => !found.includes(name))).toEqual(['generic', 'acp']);
});

test.each([
  ['claude', 'claude', ['claude']],
  ['claude', 'node', ['node', '/usr/lib/node_modules/@anthropic-ai/claude-code/cli.js']],
  ['codex', 'codex-x86_64-un', ['/x/vendor/codex-x86_64-unknown-linux-musl', 'exec']],
  ['codex', 'node', ['node', '/opt/.bin/codex']],
  ['gemini', 'MainThread', ['/usr/bin/node', '--max-old-space-size=12051', '/opt/node_modules/.bin/gemini']],
  ['qwen', 'node', ['/usr/bin/node', '--expose-gc', '/opt/@qwen-code/qwen-code/cli.js']],
  ['opencode', 'opencode', ['/opt/.bin/opencode']],
  ['pi', 'pi', ['pi']],
  ['copilot', 'node', ['node', '/usr/bin/copilot']],
  ['cline', 'node', ['node', '/usr/bin/cline']],
  ['continue', 'node', ['node', '/usr/bin/cn']],
  ['aider', 'aider', ['/venv/bin/python', '/venv/bin/aider']],
  ['cursor-agent', 'node', ['/home/u/.local/bin/cursor-agent', '--use-system-ca', 'index.js']],
  ['scripted', 'node', ['node', '/opt/pawl/dist/scripted-agent.mjs', '-p']],
])('a process of %s is recognised by %s [2.2.5]', (provider, name, words) => {
  expect(recognise({ name, words })).toBe(provider);
});

test.each([
  ['node', ['node']],
  ['node', []],
  ['node', ['node', 'server.js']],
  ['claudette', ['claudette']],
  ['grep', ['grep', 'claude', 'notes.txt']],
  ['less', ['less', '/usr/bin/claude']],
  ['bash', ['bash', '-c', 'claude']],
  ['kworker/0:1', []],
])('%s %j is not an agent', (name, words) => {
  expect(recognise({ name, words })).toBe(null);
});

test('an invalid pattern matches nothing, and affects no other', () => {
  const own = { provider: 'mine', program: 'mine', names: ['mine'], commandLine: '(' };
  expect(recogniser([own])({ name: 'mine', words: [] })).toBe('mine');
  expect(recogniser([own])({ name: 'node', words: ['node', '('] })).toBe(null);
});
