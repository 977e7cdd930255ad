import { choicesOf, readConfig } from '@pawl/daemon/platform/config';
import { defaultChoices } from '@pawl/daemon/platform/platform';
import { withCustomPresets } from '@pawl/providers/custom';
import { builtInPresets } from '@pawl/providers/preset/built-in';
import { noBudget } from '@pawl/schema/record';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

async function read(text: string | null) {
  await using place = await temporaryDirectory();
  const path = join(place.path, 'config.yaml');
  if (text !== null) await writeFile(path, text);
  return await readConfig(path, {});
}

test.each([null, '', '# nothing yet\n', '{}'])('%j leaves everything as usual', async (text) => {
  const config = await read(text);
  expect(choicesOf(config)).toEqual(defaultChoices);
  expect(config.providers).toEqual({});
});

test('reads accounts, budgets, MCP servers and trust', async () => {
  const config = await read(`
provider: claude
rotate_accounts: [claude, codex]
budgets:
  agent: { tokens: 100000, minutes: 2.5 }
  project: { usd: 20 }
mcp_servers:
  files: { command: npx, args: [-y, server], env: { ROOT: / } }
  short: { command: serve }
  web: { url: https://tools.example/mcp, headers: { Authorization: Bearer x } }
trust_repository_settings: true
providers:
  mine: { extends: claude }
  broken: 7
`);
  expect(choicesOf(config)).toEqual({
    ...defaultChoices,
    provider: 'claude',
    rotateAccounts: ['claude', 'codex'],
    budgets: {
      agent: { ...noBudget, tokens: 100_000, minutes: 2.5 },
      task: noBudget,
      project: { ...noBudget, usd: 20 },
    },
    mcpServers: {
      files: { command: 'npx', args: ['-y', 'server'], env: { ROOT: '/' } },
      short: { command: 'serve', args: [], env: {} },
      web: { url: 'https://tools.example/mcp', headers: { Authorization: 'Bearer x' } },
    },
    trustRepositorySettings: true,
  });
  // Each of them is validated later.
  expect(config.providers).toEqual({ mine: { extends: 'claude' }, broken: 7 });
});

test.each<[string, RegExp]>([
  ['rotate_accounts: claude', /rotate_accounts/],
  ['rotate_accounts: [A B]', /rotate_accounts\[0\]/],
  ['budgets: { agent: { tokens: 0 } }', /budgets\.agent\.tokens/],
  ['budgets: { agent: { euros: 1 } }', /euros[^]*budgets\.agent/],
  ['budgets: { everybody: {} }', /everybody/],
  ['mcp_servers: { one: { command: "" } }', /mcp_servers\.one/],
  ['mcp_servers: { one: { command: x, url: "http://x" } }', /mcp_servers\.one/],
  ['mcp_servers: { one: { url: "file:///etc/passwd" } }', /mcp_servers\.one/],
  ['mcp_servers: { "a.b": { command: x } }', /Invalid key in record[^]*mcp_servers/],
  ['mcp_servers: { Pawl: { command: x } }', /Pawl’s own server[^]*mcp_servers/],
  ['mcp_servers: { one: { command: x, env: { "A=B": c } } }', /mcp_servers\.one/],
  ['trust_repository_settings: sometimes', /trust_repository_settings/],
  ['rules: [{allow: npm test}]', /“npm test” is not a rule: it begins with none of/],
  ['rules: [{allow: tool Bash}]', /would allow every command/],
  ['rules: [{maybe: command x}]', /\{allow: …\} or \{deny: …\}[^]*rules\[0\]/],
  ['rules: [{allow: command x, deny: command x}]', /rules\[0\]/],
  ['providers: [claude]', /providers/],
  ['colour: red', /colour/],
  ['a: [', /is not YAML/],
])('%s is refused with its location', async (text, message) => {
  await expect(read(text)).rejects.toMatchObject({
    code: 'invalid_input',
    message: expect.stringMatching(message) as string,
  });
});

test('the example in the documentation is valid', async () => {
  const page = await readFile(join(import.meta.dirname, '../../../../docs/providers.md'), 'utf8');
  const example = /```yaml\n([^]*?)```/.exec(page)?.[1];
  const config = await read(example ?? '');
  const builtIn = builtInPresets({
    scriptedAgent: ['node'],
    bridge: ['node'],
    engine: ['node', 'e'],
    engineState: '/engine',
    scriptedState: '/s',
  });
  const { presets, problems } = withCustomPresets(builtIn, config.providers);
  expect(problems).toEqual([]);
  expect(presets.map(({ name }) => name)).toEqual(expect.arrayContaining(['gateway', 'goose', 'my-agent']));
  expect(Object.keys(config.mcp_servers)).toEqual(['search', 'tracker']);
});
