import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { providers } from '../../../src/command/projects/providers.ts';
import { runCli } from '../../run-cli.ts';
import { fakeDaemon, sendJson } from '../fake-daemon.ts';

// The PATH goes along with requests; these tests are about the rest.
beforeEach(() => {
  vi.stubEnv('PATH', '');
});
afterEach(() => {
  vi.unstubAllEnvs();
});

const capabilities = {
  resume: true,
  fork: 'native',
  liveFollowUps: true,
  systemPrompt: true,
  mcp: true,
  toolGate: 'hard',
  chosenSessionId: true,
  accounts: ['key', 'directory'],
  reportsCost: false,
  reportsTokens: true,
};
const claude = {
  name: 'claude',
  description: 'Claude Code',
  program: 'claude',
  path: '/opt/bin/claude\u001B[31m',
  version: '2.1.0',
  install: 'npm install -g claude',
  isDefault: true,
  capabilities,
  options: [],
};
const cline = {
  ...claude,
  name: 'cline',
  path: null,
  version: null,
  install: 'npm install -g cline',
  isDefault: false,
  capabilities: { ...capabilities, fork: 'none', toolGate: 'none', accounts: [] },
};
const list = { providers: [claude, cline], problems: [{ name: 'bad', reason: 'providers.bad: no\nway' }] };

test('installed ones are a table, the others are named with how to install them', async () => {
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, list), { json: false });
  expect(await providers({ ...daemon.context, columns: 160 }, {})).toBe(0);
  expect(daemon.requests).toEqual(['GET /api/providers']);
  const shown = daemon.texts.join('\n');
  expect(shown).toMatch(
    /claude \*\s+2\.1\.0\s+yes\s+native\s+yes\s+yes\s+hard\s+key,directory\s+-\s+\/opt\/bin\/claude/,
  );
  expect(shown).toMatch(/not installed:\n {2}cline\s+npm install -g cline/);
  expect(shown).toContain('config.yaml: providers.bad');
  expect(shown).not.toContain('\u001B[31m');
});

test('with --all the others are in the table too', async () => {
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, list), { json: false });
  await providers({ ...daemon.context, columns: 160 }, { all: true });
  expect(daemon.texts.join('\n')).toMatch(/cline\s+-\s+yes\s+-\s+yes\s+yes\s+-\s+-\s+-\s+not installed/);
});

test('as JSON it is complete', async () => {
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, list));
  await providers(daemon.context, {});
  expect(daemon.printed).toEqual([{ kind: 'providers', data: list }]);
});

test('its help has an example', async () => {
  const { code, stdout } = await runCli(['providers', '--help']);
  expect(code).toBe(0);
  expect(stdout).toContain('Example:\n  pawl providers --json');
});
